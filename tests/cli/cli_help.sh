#!/bin/sh
# cli_help.sh TESSERA [sanitized]: what explains the command, and that it is true.
. "$(dirname "$0")/cli_claims.sh"

expect 0 help --as=bash
cp out completion.bash
topics=$("$tessera" --help | sed -n '/^Topics/,/\.$/p' | sed 's/.*: //; s/[,.]//g')
commands=$("$tessera" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')

claim "--help is one screen, and 'help' is the same"
expect 0 --help
[ "$(wc -l <out)" -le 24 ] || wrong "more than 24 lines"
[ -z "$(awk 'length > 80' out)" ] || wrong "a long line"
for t in accuracy build devices exit formats pins plans; do
	case " $(echo $topics) " in *" $t "*) ;; *) wrong "no topic $t" ;; esac
done
cp out help
expect 0 help
same out help
ok

claim "every topic fits the page, and what it names is there"
for t in $topics; do
	expect 0 help "$t"
	[ "$(wc -l <out)" -ge 8 ] && [ "$(wc -l <out)" -le 40 ] || wrong "$t: $(wc -l <out) lines"
	[ -z "$(awk 'length > 80' out)" ] || wrong "a long line about $t"
	grep -q '[[:blank:]]$' out && wrong "blanks end a line about $t"
	for o in $(grep -oE -e '(^|[^-a-z])--[a-z][-a-z0-9]*' out | grep -oE -e '--.*'); do
		grep -qE -e "[' ]$o[ ']" completion.bash || wrong "$t tells of $o, which no command has"
	done
	for c in $(grep -oE '`tessera [a-z]+|^ *tessera [a-z]+' out | sed 's/.* //'); do
		case " $(echo $commands) " in *" $c "*) ;; *) wrong "$t tells of tessera $c" ;; esac
	done
done
ok

claim "help of a command is its --help; what is neither is refused with what is near"
for c in $commands; do
	expect 0 "$c" --help && cp out want
	expect 0 help "$c"
	same out want
done
expect 2 help pin
err_is "tessera: error: no topic or command 'pin'; 'tessera --help' lists both
tessera: note: did you mean 'pins'?"
expect 2 help pins plans
expect 2 help --as=html
err_is "tessera: error: '--as' wants man, bash or zsh, not 'html'"
expect 2 help pins --as=man
ok

claim "the exit codes of 'help exit' are those of the header"
expect 0 help exit
sed -n 's/^    \([0-9]\)  *\(.*\)$/\1 \2/p' out >got
"$tessera" --help | sed -n '/^Exit/,$p' | sed 's/^Exit:/     /' |
	sed 's/^  *\([0-9]\)  \(.*[^ ]\)  *\([0-9]\)  \(.*\)$/\1 \2\n\3 \4/' >want
same got want
[ "$(wc -l <got)" = 6 ] || wrong "$(cat got)"
ok

claim "the man page has every command, option and topic, and is what groff takes"
expect 0 help --as=man
cp out tessera.1
head -1 tessera.1 | grep -q '^.TH TESSERA 1 "" "tessera ' || wrong "$(head -1 tessera.1)"
for c in $commands; do grep -qx ".B $c" tessera.1 || wrong "no command $c"; done
for t in $topics; do
	grep -qixE "\.SH ($t|$t STATUS)" tessera.1 || wrong "no section $t"
done
"$tessera" compile --help | grep -oE '^  -[-A-Za-z0-9]+' | sed 's/-/\\-/g' | while read -r o; do
	grep -qF ".B $o " tessera.1 || echo "$o"
done >got
[ ! -s got ] || wrong "no option $(cat got)"
if command -v groff >/dev/null; then
	[ -z "$(groff -man -Tutf8 -ww -z tessera.1 2>&1)" ] || wrong "$(groff -man -Tutf8 -ww -z tessera.1 2>&1)"
else
	echo "skipped: what groff takes: no groff here"
fi
ok

claim "its date is SOURCE_DATE_EPOCH, or none"
SOURCE_DATE_EPOCH=86400 "$tessera" help --as=man >out
head -1 out | grep -q '^.TH TESSERA 1 "1970-01-02" ' || wrong "$(head -1 out)"
sed 1d out >got && sed 1d tessera.1 | cmp -s - got || wrong "the date changes more than a line"
SOURCE_DATE_EPOCH=soon "$tessera" help --as=man | cmp -s - tessera.1 || wrong "'soon' is a date"
ok

# complete WORD...: what bash offers for the last word.
complete() {
	bash -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tessera
		printf "%s\n" "${COMPREPLY[@]}"' bash tessera "$@" >out 2>err
	silent
}

claim "bash completes commands, options, values, topics and files"
if command -v bash >/dev/null; then
	complete ex && [ "$(cat out)" = explain ] || wrong "ex: $(cat out)"
	complete compile net.ir --cache && [ "$(cat out)" = --cache-dir ] || wrong "$(cat out)"
	complete opt --cache && [ -z "$(cat out)" ] || wrong "opt has $(cat out)"
	complete plan --format = j && [ "$(cat out)" = json ] || wrong "$(cat out)"
	complete plan --format = && [ "$(wc -l <out)" = 3 ] || wrong "$(cat out)"
	complete run --device em && [ "$(head -1 out)" = emu ] || wrong "$(cat out)"
	complete plan --target wormhole_n1 && [ "$(cat out)" = wormhole_n150 ] || wrong "$(cat out)"
	complete opt --stop-after fold_b && [ "$(cat out)" = fold_batchnorm ] || wrong "$(cat out)"
	complete help pi && [ "$(cat out)" = pins ] || wrong "$(cat out)"
	complete compile ne && [ "$(cat out)" = net.ir ] || wrong "$(cat out)"
	ok
else
	echo "skipped: $about: no bash here"
fi

claim "zsh reads its completion"
if command -v zsh >/dev/null; then
	"$tessera" help --as=zsh >_tessera
	zsh -fc '_arguments() { print -rl -- "$@" }
		words=(tessera plan --f) CURRENT=3; . ./_tessera' >out 2>err || wrong "exit $?"
	silent
	grep -qxF -e '--format=[the summary to stdout in this form; csv\: op by op]:text|json|csv:(text json csv)' out ||
		wrong "$(grep -e --format out)"
	ok
else
	echo "skipped: $about: no zsh here"
fi

end_claims
