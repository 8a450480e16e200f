#!/bin/sh
# install.sh TESSERA KIND MESON BUILD MODEL PROJECT: installs the build, moves it, and builds
# a project with a network in it by CMake and by meson, as somebody else would.
kind=$2 meson=$3 build=$(realpath "$4") model=$(realpath "$5") project=$(realpath "$6")
. "$(dirname "$0")/cli_claims.sh"
unset DESTDIR MAKEFLAGS
# Blanks, but nothing that pkg-config, or a linker by way of CMake, takes apart.
here="$PWD/an ihrem Ort"
mkdir "$here"

# has NAME: is the program there? If not, the claim is skipped and says so.
has() { command -v "$1" >/dev/null || { echo "skipped: $about: no $1 here"; false; }; }

claim "everything is installed, and works from where it was moved to"
"$meson" install -C "$build" --no-rebuild --destdir "$PWD/stage" >out 2>err || wrong "$(cat out)"
prefix=$(dirname "$(dirname "$(find stage -path '*/bin/tessera')")")
mv "$prefix" "$here/usr"
prefix=$here/usr
pc=$(dirname "$(find "$prefix" -name tessera_rt.pc)")
grep -q '^prefix=\${pcfiledir}' "$pc/tessera_rt.pc" ||
	wrong "this build folder is older than meson.build: meson configure $build -Dpkgconfig.relocatable=true"
for f in bin/tessera include/tessera_rt.h share/man/man1/tessera.1 \
	share/bash-completion/completions/tessera share/zsh/site-functions/_tessera; do
	there "$prefix/$f"
done
[ -n "$(find "$prefix" -name libtessera_rt.so)" ] && [ -n "$(find "$prefix" -name libtessera_rt.a)" ] ||
	wrong "no libtessera_rt"
[ -n "$(find "$prefix" -path '*/cmake/tessera/tessera-config.cmake')" ] || wrong "no CMake package"
tessera=$prefix/bin/tessera
expect 0 compile net.ir -o net.ttb
"$tessera" help --as=man | cmp -s - "$prefix/share/man/man1/tessera.1" || wrong "an old man page"
grep -rlF "$build" "$prefix/lib" "$prefix/share" | grep -v '\.so\|\.a$' && wrong "the build folder is named"
ok

# The weights lie beside the model, the input is random; what the network makes of it on
# the emulator is what every project has to write.
expect 0 convert "$model" --random-weights=1 -o weights
printf '%%x = input : f32[1,3,64,64]\n%%y = output %%x : f32[1,3,64,64]\n' >image.ir
expect 0 run image.ir --random-input=5 --output image
expect 0 run "$model" --weights weights --input image/out_0.npy --device=emu --output mask
tail -c $((3 * 64 * 64 * 4)) image/out_0.npy >image.raw
tail -c $((64 * 64 * 4)) mask/out_0.npy >mask.raw

# new_project DIR: a copy with its model and weights.
new_project() {
	cp -r "$project" "$1" && cp "$model" "$1/unet.nnef" && cp -r weights "$1/my weights"
}

# runs PROGRAM: it writes what the network makes of the input.
runs() {
	"$1" image.raw got.raw >out 2>err || wrong "exit $?: $1"
	out_has "mask: 16384 bytes of image"
	same got.raw mask.raw
	rm -f got.raw
}

# builds COMMAND...: builds, once or again; keeps what it prints in out.
builds() { "$@" </dev/null >out 2>&1 || { wrong "$*"; tail -20 out; }; }

# compiled_again: whether that was one of the steps.
compiled_again() { grep -qE 'Compiling the model|Generating unet' out; }

# follows COMMAND...: the model is compiled again when, and only when, that is needed.
follows() {
	builds "$@"
	compiled_again && wrong "compiled again for nothing"
	touch -d 'now + 2 seconds' "$source/my weights/enc1/c1/filter.dat"
	builds "$@"
	compiled_again || wrong "not compiled again for another weight: $(cat out)"
}

for generator in Ninja 'Unix Makefiles'; do
	claim "CMake builds a project with a network in it ($generator)"
	if [ "$kind" = sanitized ]; then
		echo "skipped: $about: the library wants its sanitizer"
	elif has cmake && has "$(echo "$generator" | sed 's/Ninja/ninja/; s/Unix M.*/make/')"; then
		source="$PWD/ein größeres Netz" made="$PWD/gebaut $generator"
		new_project "$source"
		builds cmake -G "$generator" -S "$source" -B "$made" -DCMAKE_PREFIX_PATH="$prefix"
		builds cmake --build "$made"
		runs "$made/segment"
		follows cmake --build "$made"
		rm -rf "$source" "$made"
		ok
	fi
done

claim "CMake is told what is wrong"
if [ "$kind" != sanitized ] && has cmake; then
	new_project bad
	sed 's/unet.nnef OPTIONS/nunet.nnef OPTIONS/' "$project/CMakeLists.txt" >bad/CMakeLists.txt
	cmake -S bad -B bad/b -DCMAKE_PREFIX_PATH="$prefix" >out 2>&1 && wrong "a model that is not there"
	tr -s '\n ' ' ' <out >flat
	grep -q "tessera_add_model: there is no model '$PWD/bad/nunet.nnef'" flat || wrong "$(cat out)"
	sed 's/OPTIONS/OPTION/' "$project/CMakeLists.txt" >bad/CMakeLists.txt
	cmake -S bad -B bad/b -DCMAKE_PREFIX_PATH="$prefix" >out 2>&1 && wrong "a wrong keyword"
	sed 's/tessera 0.1/tessera 7.0/' "$project/CMakeLists.txt" >bad/CMakeLists.txt
	cmake -S bad -B bad/c -DCMAKE_PREFIX_PATH="$prefix" >out 2>&1 && wrong "another version"
	ok
fi

claim "meson builds the same project"
if [ "$kind" = sanitized ]; then
	echo "skipped: $about: the library wants its sanitizer"
elif has pkg-config; then
	source="$PWD/noch ein größeres Netz" made="$PWD/gebaut meson"
	new_project "$source"
	export PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH="$pc"
	builds "$meson" setup "$made" "$source"
	builds "$meson" compile -v -C "$made"
	runs "$made/segment"
	follows ninja -C "$made"
	ok
fi

end_claims
