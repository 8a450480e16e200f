/* A net that has choices of every kind. */
#ifndef TESTS_CHOICE_NET_H
#define TESTS_CHOICE_NET_H

/* Products of both kinds, one made by three steps, two inputs of different depth, a
 * skip over many steps, a constant, a reduction. */
static const char choice_net[] =
	"graph \"net\"\n"
	"%x = input {stored = bf16} : f32[1,64,60,80]\n"
	"%w1 = constant splat 0.5 : f32[96,64,3,3]\n"
	"%a = conv %x, %w1 {dilations = [1,1], pads = [1,1,1,1], stored = bf16|bfp8_b, "
	"strides = [1,1], weights = bfp8_b} : f32[1,96,60,80]\n"
	"%b = relu %x {stored = bf16|bfp8_b} : f32[1,64,60,80]\n"
	"%b2 = relu %b {stored = bf16} : f32[1,64,60,80]\n"
	"%j = concat %a, %b {axis = 1, stored = bf16} : f32[1,160,60,80]\n"
	"%w2 = constant splat 0.5 : f32[128,160,3,3]\n"
	"%c = conv %j, %w2 {dilations = [1,1], pads = [1,1,1,1], stored = bf16, "
	"strides = [1,1], weights = bfp8_b} : f32[1,128,60,80]\n"
	"%m = add %b2, %b2 {stored = bf16} : f32[1,64,60,80]\n"
	"%w3 = constant splat 0.5 : f32[128,64,2,2]\n"
	"%u = conv_transpose %c, %w3 {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
	"strides = [2,2], weights = bfp8_b} : f32[1,64,120,160]\n"
	"%k = constant splat 0.5 : f32[1,1,120,160]\n"
	"%v = add %u, %k {stored = bf16} : f32[1,64,120,160]\n"
	"%w4 = constant splat 0.5 : f32[64,64,3,1]\n"
	"%t = conv_transpose %v, %w4 {dilations = [1,1], pads = [0,0,0,0], "
	"stored = bf16, strides = [3,1], weights = bfp8_b} : f32[1,64,360,160]\n"
	"%g = global_avg_pool %m {stored = bf16} : f32[1,64,1,1]\n"
	"%o = output %t : f32[1,64,360,160]\n"
	"%o2 = output %g : f32[1,64,1,1]\n"
	"%o3 = output %b : f32[1,64,60,80]\n";

#endif
