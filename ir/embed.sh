#!/bin/sh
# embed.sh FILE...: C source that holds the files as bytes, in a table by name.
echo '#include "ir/embed.h"'
for f; do
	name=$(basename "$f")
	echo "static const unsigned char ${name%.*}[] = {"
	od -An -v -tu1 "$f" | sed 's/  */,/g; s/^,//; s/$/,/'
	echo "0 };"
done
echo 'const EmbeddedFile embedded_targets[] = {'
for f; do
	name=$(basename "$f")
	echo "	{ \"${name%.*}\", (const char *)${name%.*}, sizeof ${name%.*} - 1 },"
done
echo '};'
echo 'const int embedded_targets_count = sizeof embedded_targets / sizeof *embedded_targets;'
