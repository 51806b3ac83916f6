# A shell function in front of Claude Code, for ~/.bashrc or ~/.zshrc: hist checks the session that is about to be resumed,
# and repairs it in place if it is damaged, before the client reads it. A SessionStart hook runs too late for that.
claude() {
  local word= before= session= last=
  for word in "$@"; do
    case $before in --resume | -r) session=$word ;; esac
    case $word in
      --) break ;;
      --resume=*) session=${word#*=} ;;
      --continue | -c) last=1 ;;
    esac
    before=$word
  done
  case $session in
    -* | *[!A-Za-z0-9._/-]*) session= ;; # a flag or a title: leave it to the client
  esac
  # hist prints at most one line on standard error, and the client runs in any case.
  if [ -n "$session" ]; then
    hist pre-resume --repair --quiet -- "$session"
  elif [ -n "$last" ]; then
    hist pre-resume --repair --quiet --last --agent claude
  fi
  command claude "$@"
}
