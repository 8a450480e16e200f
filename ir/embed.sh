#!/bin/sh
# embed.sh TABLE FILE...: C source that holds the files as bytes, in a table by name.
table=$1
shift
echo '#include "ir/embed.h"'
for f; do
	name=$(basename "$f")
	echo "static const unsigned char ${name%.*}[] = {"
	od -An -v -tu1 "$f" | sed 's/  */,/g; s/^,//; s/$/,/'
	echo "0 };"
done
echo "extern const EmbeddedFile $table[];"
echo "extern const int ${table}_count;"
echo "const EmbeddedFile $table[] = {"
for f; do
	name=$(basename "$f")
	echo "	{ \"${name%.*}\", (const char *)${name%.*}, sizeof ${name%.*} - 1 },"
done
echo '};'
echo "const int ${table}_count = sizeof $table / sizeof *$table;"
