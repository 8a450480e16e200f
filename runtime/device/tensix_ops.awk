# Makes the encoders of tensix_ops.h from the rows of tensix_ops.def.
BEGIN {
	print "/* Encoders of Tensix instructions, made from tensix_ops.def. */"
	print "#ifndef RUNTIME_DEVICE_TENSIX_OPS_H"
	print "#define RUNTIME_DEVICE_TENSIX_OPS_H"
	print "#define TT_BITS(v, high, low) (((unsigned)(v) & ((2u << ((high) - (low))) - 1u)) << (low))"
}
/^TENSIX_OP/ { row = "" ; inside = 1 }
inside { row = row $0 }
inside && /(\)\)|NONE\))$/ { encoder(row); inside = 0 }
END { print "#endif" }

function encoder(row,    part, field, n, i, names, bits) {
	match(row, /TENSIX_OP\([A-Z0-9_a-z]+, [0-9]+/)
	split(substr(row, RSTART + 10, RLENGTH - 10), part, ", ")
	n = split(row, field, /F\(/)
	names = bits = ""
	for (i = 2; i <= n; i++) {
		sub(/\).*/, "", field[i])
		split(field[i], f, ", ")
		names = names (i > 2 ? ", " : "") f[1]
		bits = bits " | TT_BITS(" f[1] ", " f[2] ", " f[3] ")"
	}
	print "#define OP_" part[1] "(" names ") (" part[2] "u << 24" bits ")"
}
