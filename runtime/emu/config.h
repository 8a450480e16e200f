/* Reading fields of the Tensix configuration by name. */
#ifndef RUNTIME_EMU_CONFIG_H
#define RUNTIME_EMU_CONFIG_H

#include <stdint.h>

enum {
	THREAD_CFG_WORDS = 64,
	CFG_WORDS = 192,
};

typedef struct CfgField {
	uint8_t word, shift, width;
} CfgField;

/* CFG_name and TCFG_name: where a field stands. */
#define THREAD_FIELD(name, word, shift, width) \
	static const CfgField TCFG_##name __attribute__((unused)) = { word, shift, width };
#define CFG_FIELD(name, word, shift, width) \
	static const CfgField CFG_##name __attribute__((unused)) = { word, shift, width };
#include "runtime/device/tensix_cfg.def"

static inline uint32_t cfg_field(const uint32_t *cfg, CfgField f)
{
	return f.width == 32 ? cfg[f.word] : cfg[f.word] >> f.shift & ((1u << f.width) - 1);
}

static inline uint32_t thread_field(const uint16_t *cfg, CfgField f)
{
	return (uint32_t)(cfg[f.word] >> f.shift) & ((1u << f.width) - 1);
}

#endif
