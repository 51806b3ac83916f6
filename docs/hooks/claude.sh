# A shell function in front of Claude Code, for ~/.bashrc or ~/.zshrc: the session that is to be taken up is looked at, and
# repaired in place if it is damaged, before the client reads it. A SessionStart hook comes too late for that.
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
    -* | *[!A-Za-z0-9._/-]*) session= ;; # a flag, or a title: the client looks for it itself
  esac
  # Whatever comes of it is one line on standard error, and the client decides.
  if [ -n "$session" ]; then
    hist pre-resume --repair --quiet -- "$session"
  elif [ -n "$last" ]; then
    hist pre-resume --repair --quiet --last --agent claude
  fi
  command claude "$@"
}
