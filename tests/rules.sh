#!/bin/sh
# rules.sh ROOT: the rules of style a machine can hold us to. Each is seen to
# fail by rules_seeded.sh.
cd "$1" || exit 2
LC_ALL=C
export LC_ALL
layers="frontend ir passes backend runtime"
everything=$(find . -name '.git*' -prune -o -path './.build' -prune -o -path './build*' -prune -o \
	-type f -print | sed 's|^\./||' | sort)
in_layers=$(echo "$everything" | grep -E '^(frontend|ir|passes|backend|runtime)/')
c_files=$(echo "$everything" | grep -E '^(frontend|ir|passes|backend|runtime|tests)/.*\.[ch]$')
headers=$(echo "$c_files" | grep '\.h$')
code=$(echo "$everything" | grep -E '\.([chly]|def|ini|sh|build)$|^dev$|^\.ci/')

fixed_top_level() {
	for f in $(ls); do
		case $f in
		frontend | ir | passes | backend | runtime | tests | models) ;;
		meson.build | README.md | LICENSE | dev | build*) ;;
		*) echo "$f: not part of the fixed top level" ;;
		esac
	done
	echo "$everything" | grep -E '\.(md|rst|adoc|org)$|^[^t].*\.txt$' |
		grep -vxE 'README\.md|ir/IR\.md|runtime/device/DEVICE\.md' |
		sed 's|$|: prose belongs in README.md, ir/IR.md, runtime/device/DEVICE.md or a header|'
}

# A file holds one idea, a function fits a screen, a line fits the page (a
# message may run over, so that it can be searched for).
sizes() {
	awk 'FNR == 501 { print FILENAME ": over 500 lines" }' $code
	awk 'FNR == 1 { from = 0 }
	     /^{/ { from = FNR }
	     /^}/ && from {
		if (FNR - from > 60) print FILENAME ":" from ": function over 60 lines"
		from = 0
	     }' $c_files
	for f in $c_files; do
		expand "$f" | awk -v f="$f" 'length > (/"/ ? 120 : 100) {
			print f ":" FNR ": over 100 columns" }'
	done
}

# No function body is written twice.
copies() {
	awk 'FNR == 1 { inside = 0 }
	     /^{/ { body = ""; at = FILENAME ":" FNR; inside = 1 }
	     inside { line = $0; gsub(/[ \t]/, "", line); body = body line }
	     /^}/ && inside {
		inside = 0
		if (length(body) > 40 && body in seen) print at ": same body as " seen[body]
		seen[body] = at
	     }' $c_files
}

# Lists in meson.build are sorted, so two people adding a file do not meet.
sorted_lists() {
	awk 'FNR == 1 || !/^ *\047[^\047]*\047(,|: \[.*)$/ { last = ""; if (FNR == 1) next }
	     /^ *\047[^\047]*\047(,|: \[.*)$/ {
		split($0, part, "\047")
		if (last != "" && part[2] < last)
			print FILENAME ":" FNR ": " part[2] " is not in order"
		last = part[2]
	     }' $(echo "$everything" | grep 'meson\.build$')
}

# Who may include whom. main.c and the commands join the layers.
layering() {
	for layer in $layers; do
		for f in $(echo "$in_layers" | grep -E "^$layer/.*\.[chly]$"); do
			case $f in frontend/main.c | frontend/cmd_*) continue ;; esac
			case $layer in backend) on="ir|backend|runtime/(device|host|metal)" ;;
			*) on="ir|$layer" ;; esac
			grep -nE '^#include "[a-z]+/' "$f" | grep -vE "\"($on)/" |
				sed "s#^#$f:#; s#\$#  <- $layer stands on $on#"
		done
	done
	echo "$everything" | grep -E '\.[chly]$' | grep -vE '^(backend|tests)/' |
		xargs grep -nE '^#include [<"]llvm' /dev/null | sed 's|$|  <- LLVM stays in backend|'
}

guards() {
	for h in $headers; do
		want=$(echo "$h" | tr 'a-z/.' 'A-Z__')
		grep -qx "#ifndef $want" "$h" && grep -qx "#define $want" "$h" ||
			echo "$h: no include guard $want"
	done
}

leftovers() {
	checked=$(echo "$code" | grep -vE '^tests/rules')
	grep -nwE 'TODO|FIXME|XXX' $checked | sed 's|$|  <- finish it or leave it out|'
	grep -nE '(^|[^A-Za-z0-9_.])/((work|home|root)/|tmp(/|[^a-z]))' $checked |
		sed 's|$|  <- a path of one machine|'
}

# README.md is true: it lists every pass with its summary, and what it names is
# there.
readme() {
	sed -n 's/^PASS(\([a-z_]*\), *"\(.*\)")$/\1 \2/p' passes/passes.def 2>/dev/null |
		while read -r name summary; do
			grep -qE "^ +$name +$summary\$" README.md ||
				echo "README.md: pass $name is not listed with its summary"
		done
	grep -oE '`[a-z]+/[A-Za-z0-9_./]+`' README.md | tr -d '\`' |
		grep -vE '^build/|NAME' | while read -r f; do
			[ -e "$f" ] || echo "README.md: there is no $f"
		done
}

found=$(fixed_top_level; sizes; copies; sorted_lists; layering; guards; leftovers; readme)
[ -z "$found" ] || { echo "$found"; exit 1; }
