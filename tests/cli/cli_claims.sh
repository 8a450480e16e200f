# What the tests of the command share: claims, and what they look at. Begins in an
# empty folder with a small net.
#
#     . "$(dirname "$0")/cli_claims.sh"
#     claim "help is there"; expect 0 --help; out_has usage; ok
#     end_claims
tessera=$(realpath "$1")
sanitized=$2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
claims=0
failed=0

claim() { about=$1 claims=$((claims + 1)) bad=; }

wrong() {
	[ -n "$bad" ] || failed=$((failed + 1))
	bad=1
	echo "FAILED: $about: $1"
	sed 's/^/    /' err
}

ok() { [ -n "$bad" ] || echo "ok: $about"; }

# expect CODE ARGUMENT...: runs tessera, keeps what it prints in out and err.
expect() {
	code=$1
	shift
	"$tessera" "$@" >out 2>err
	got=$?
	[ $got = "$code" ] || wrong "exit $got instead of $code: tessera $*"
}

out_has() { grep -qF -e "$1" out || wrong "stdout has no '$1'"; }
err_has() { grep -qF -e "$1" err || wrong "stderr has no '$1'"; }
err_is() { [ "$(cat err)" = "$1" ] || wrong "stderr is not '$1'"; }
silent() { [ ! -s err ] || wrong "something on stderr"; }
there() { for f; do [ -e "$f" ] || wrong "no $f"; done; }
absent() { for f; do [ ! -e "$f" ] || wrong "$f is left behind"; done; }
same() { cmp -s "$1" "$2" || wrong "$1 and $2 differ"; }

# is_json F: braces, strings, commas and values where they may stand.
is_json() {
	awk '
	function blank() { while (match(substr(s, i, 1), /[ \n\t]/)) i++ }
	function value(  c) {
		blank(); c = substr(s, i, 1)
		if (c == "{") return members("}", 1)
		if (c == "[") return members("]", 0)
		if (c == "\"") return string()
		if (!match(substr(s, i), /^-?[0-9]+(\.[0-9]+)?/)) return 0
		i += RLENGTH; return 1
	}
	function string() {
		if (!match(substr(s, i), /^"([^"\\]|\\.)*"/)) return 0
		i += RLENGTH; return 1
	}
	function members(end, keys) {
		i++; blank()
		if (substr(s, i, 1) == end) { i++; return 1 }
		for (;;) {
			if (keys) {
				blank()
				if (!string()) return 0
				blank()
				if (substr(s, i++, 1) != ":") return 0
			}
			if (!value()) return 0
			blank()
			if (substr(s, i, 1) == end) { i++; return 1 }
			if (substr(s, i++, 1) != ",") return 0
		}
	}
	{ s = s $0 "\n" }
	END { i = 1; ok = value(); blank(); exit !(ok && i > length(s)) }' "$1" || wrong "$1 is no JSON"
}

numbers() { # numbers N: "[0,0.5,1,...]"
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%s%g", i ? "," : "[", i / 8 - 3; print "]" }'
}

cat >net.ir <<'END'
graph "net"
%x = input : f32[1,2,6,6]
END
cat >>net.ir <<END
%w = constant $(numbers 72) : f32[4,2,3,3]
%scale = constant [1,2,0.5,1] : f32[4]
%bias = constant [0,0.5,1,-1] : f32[4]
%mean = constant [0.1,0.2,0.3,0.4] : f32[4]
%variance = constant [1,0.5,2,1] : f32[4]
%c = conv %x, %w {pads = [1,1,1,1], strides = [1,1], dilations = [1,1]} : f32[1,4,6,6]
%n = batch_norm %c, %scale, %bias, %mean, %variance {epsilon = 0.001} : f32[1,4,6,6]
%r = relu %n : f32[1,4,6,6]
%y = output %r : f32[1,4,6,6]
END

# The last command of a test.
end_claims() {
	echo "$claims claims, $failed failed"
	[ $failed = 0 ]
}
