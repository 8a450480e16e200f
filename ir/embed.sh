#!/bin/sh
# embed.sh [-p] TABLE FILE...: C source that holds the files as bytes, in a table by
# name, or (-p) by their path from the top of the tree.
paths=
[ "$1" != -p ] || { paths=1; shift; }
table=$1
shift

named() {
	if [ "$paths" ]; then
		echo "$1" | sed -E ':up
s,[^/.]+/\.\./,,
t up
s,^(.*/)?((ir|runtime)/),\2,'
	else
		name=$(basename "$1")
		echo "${name%.*}"
	fi
}

echo '#include "ir/embed.h"'
n=0
for f; do
	n=$((n + 1))
	echo "static const unsigned char file_$n[] = {"
	od -An -v -tu1 "$f" | sed 's/  */,/g; s/^,//; s/$/,/'
	echo "0 };"
done
echo "extern const EmbeddedFile $table[];"
echo "extern const int ${table}_count;"
echo "const EmbeddedFile $table[] = {"
n=0
for f; do
	n=$((n + 1))
	echo "	{ \"$(named "$f")\", (const char *)file_$n, sizeof file_$n - 1 },"
done
echo '};'
echo "const int ${table}_count = sizeof $table / sizeof *$table;"
