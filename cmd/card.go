package cmd

import (
	"fmt"
	"io"

	"github.com/hist-cli/hist/internal/preresume"
)

// card prints the restart card of a session. It reads the whole session.
func (p *preRun) card(t target) error {
	conf, err := loadConfig(p.c)
	if err != nil {
		return err
	}
	r, opts, err := p.env.look(p.c.Context, t, conf, p.by)
	if err != nil {
		return err
	}
	defer r.src.Close()
	if partial := r.result.Summary.Partial; partial != nil {
		return fmt.Errorf("%w; no card, it was read up to byte %d only", partial, r.result.Summary.Bytes)
	}
	card, err := preresume.MakeCard(p.c.Context, r.src, r.result, preresume.CardOptions{Lint: opts, CWD: p.log.CWD, Content: p.c.Bool("show-content"), Live: opts.Live})
	if err != nil {
		return err
	}
	text := card.Text()
	if p.c.Bool("markdown") {
		text = card.Markdown()
	}
	_, err = io.WriteString(p.out(), printable(text))
	return writing("the card", err)
}
