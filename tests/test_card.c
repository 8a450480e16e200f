/*
 * test_card FAKE: a driver made up here gets the same bytes as the simulator
 * FAKE (fake_ttsim.c) when the same package is loaded and a run submitted.
 */
#include <errno.h>

#include "runtime/host/card.h"
#include "tests/chip_memory.h"
#include "tests/package.h"

static const char *fake;

/* Stores into the window cannot be seen when they happen. So what the window
 * shows is looked through before it moves. */
typedef struct Driver {
	Chip chip;
	KmdConfigureTlb shown;
	uint8_t *window, *before;
	uint16_t device;
	int open, windows, moves;
	int fails; /* the request that does, or 0 */
} Driver;

enum { WINDOW_ID = 170, WINDOW_OFFSET = 0x7000, FD = 33 };

static void look_through(Driver *d)
{
	for (size_t at = 0; at < KMD_WINDOW; at += CHIP_PAGE) {
		uint8_t *now = d->window + at, *old = d->before + at;

		if (memcmp(now, old, CHIP_PAGE) == 0)
			continue;
		chip_write(&d->chip, d->shown.x, d->shown.y, d->shown.address + at, now, CHIP_PAGE);
		memcpy(old, now, CHIP_PAGE);
	}
}

static void show(Driver *d, const KmdConfigureTlb *to)
{
	look_through(d);
	d->shown = *to;
	d->moves++;
	for (size_t at = 0; at < KMD_WINDOW; at += CHIP_PAGE) {
		const ChipPage *p =
			chip_page(&d->chip, to->x, to->y, (to->address + at) / CHIP_PAGE, false);

		if (!p && chip_zeros(d->before + at, CHIP_PAGE))
			continue;
		chip_read(&d->chip, to->x, to->y, to->address + at, d->window + at, CHIP_PAGE);
		memcpy(d->before + at, d->window + at, CHIP_PAGE);
	}
}

static int driver_open(void *context, const char *path)
{
	Driver *d = context;

	if (strcmp(path, "/dev/tenstorrent/3") != 0) {
		errno = ENOENT;
		return -1;
	}
	d->open++;
	return FD;
}

static int driver_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	Driver *d = context;
	KmdDeviceInfo *info = argument;
	KmdAllocateTlb *tlb = argument;
	const KmdConfigureTlb *config = argument;

	assert_int_equal(fd, FD);
	if ((int)request == d->fails) {
		errno = EINVAL;
		return -1;
	}
	switch (request) {
	case KMD_DEVICE_INFO:
		assert_int_equal(info->room, 20);
		info->vendor = KMD_VENDOR;
		info->device = d->device;
		return 0;
	case KMD_ALLOCATE_TLB:
		assert_int_equal(tlb->size, KMD_WINDOW);
		tlb->id = WINDOW_ID;
		tlb->offset_uncached = WINDOW_OFFSET;
		d->windows++;
		return 0;
	case KMD_FREE_TLB:
		assert_int_equal(((KmdFreeTlb *)argument)->id, WINDOW_ID);
		d->windows--;
		return 0;
	case KMD_CONFIGURE_TLB:
		assert_int_equal(config->id, WINDOW_ID);
		assert_int_equal(config->address % KMD_WINDOW, 0);
		assert_int_equal(config->ordering, KMD_ORDER_STRICT);
		assert_int_equal(config->multicast | config->noc | config->linked, 0);
		show(d, config);
		return 0;
	default:
		fail_msg("request 0x%lx", request);
		return -1;
	}
}

static void *driver_mmap(void *context, int fd, size_t n, uint64_t offset)
{
	Driver *d = context;

	assert_int_equal(fd, FD);
	assert_int_equal(n, KMD_WINDOW);
	assert_int_equal(offset, WINDOW_OFFSET);
	d->window = calloc(1, n);
	d->before = calloc(1, n);
	assert_true(d->window && d->before);
	return d->window;
}

static void driver_munmap(void *context, void *at, size_t n)
{
	Driver *d = context;

	assert_ptr_equal(at, d->window);
	assert_int_equal(n, KMD_WINDOW);
	free(d->window);
	free(d->before);
}

static void driver_close(void *context, int fd)
{
	Driver *d = context;

	assert_int_equal(fd, FD);
	d->open--;
}

static CardSystem driver_system(Driver *d)
{
	*d = (Driver){ .device = KMD_WORMHOLE };
	return (CardSystem){
		d, driver_open, driver_ioctl, driver_mmap, driver_munmap, driver_close,
	};
}

/* One core's L1 image has an odd length, so words are written in part. */
static uint8_t *odd_package(size_t *n)
{
	const Sample s = {
		.code = copies_input,
		.words = sizeof copies_input / sizeof *copies_input,
		.cores = 5,
		.in = { 1, 3, 40, 33 },
		.out = { 1, 3, 40, 33 },
	};
	TtbWriter *w = sample_writer(&s);

	ttb_writer_l1(w, 1, TT_USER + 0x1000, "fifteen bytes..", 15);
	ttb_writer_dram(w, 7, 0x1fffff0 / 32 * 32, "across the end of a window of 16 MiB", 37);
	return sample_finish(w, n);
}

static TesseraProgram *load_and_submit(TesseraDevice *d, const Ttb *t)
{
	static float x[3 * 40 * 33];
	TesseraError e = { 0 };
	const TesseraTensor in = tessera_input(t, 0);
	const TesseraArray from = tessera_array(&in, x);
	TesseraProgram *p = d ? tessera_load(d, t, &e) : NULL;

	for (size_t i = 0; i < sizeof x / sizeof *x; i++)
		x[i] = (float)i + 0.5f;
	if (!p || !tessera_submit(p, &from, 1, &e))
		fail_msg("%s", e.text);
	return p;
}

/* Every page of the card's is the same there, and there are no others. */
static void same_memory(Driver *d, TesseraDevice *sim)
{
	TesseraError e = { 0 };
	uint8_t bytes[CHIP_PAGE];
	size_t pages;

	look_through(d);
	assert_true(sim->ops->read(sim, 63, 0, 0, &pages, sizeof pages, &e));
	assert_int_equal(pages, d->chip.pages);
	for (size_t i = 0; i < CHIP_BUCKETS; i++)
		for (const ChipPage *p = d->chip.bucket[i]; p; p = p->next) {
			assert_true(sim->ops->read(sim, p->x, p->y, p->number * CHIP_PAGE, bytes,
						   CHIP_PAGE, &e));
			assert_memory_equal(p->bytes, bytes, CHIP_PAGE);
		}
}

static void a_card_gets_what_the_simulator_gets(void **state)
{
	(void)state;
	char spec[1024];
	TesseraError e = { 0 };
	size_t n;
	Driver driver;
	const CardSystem system = driver_system(&driver);
	uint8_t *file = odd_package(&n);
	Ttb *t = ttb_open_memory(file, n, &e);

	snprintf(spec, sizeof spec, "ttsim:%s", fake);
	TesseraDevice *card = card_open(&system, 3, &e), *sim = tessera_device_open(spec, &e);
	assert_string_equal(tessera_device_name(card), "card:3 (untested on silicon)");
	load_and_submit(card, t);
	load_and_submit(sim, t);
	assert_in_range(driver.chip.pages, 20, 100000);
	same_memory(&driver, sim);
	print_message("%zu pages, the window moved %d times\n", driver.chip.pages, driver.moves);

	tessera_unload(card->program);
	tessera_unload(sim->program);
	same_memory(&driver, sim);
	tessera_device_close(card);
	tessera_device_close(sim);
	assert_int_equal(driver.open, 0);
	assert_int_equal(driver.windows, 0);
	chip_clear(&driver.chip);
	ttb_close(t);
	free(file);
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	Driver driver;
	const CardSystem system = driver_system(&driver);
	TesseraDevice *card = card_open(&system, 3, &e);
	uint8_t from[64], to[64];

	for (uint8_t i = 0; i < sizeof from; i++)
		from[i] = (uint8_t)(i * 37 + 1);
	for (uint32_t skip = 0; skip < 4; skip++)
		for (uint32_t k = 1; k < 12; k++) {
			memset(to, 0, sizeof to);
			assert_true(card->ops->write(card, 18, 18, 0xfffffa + skip, from, k, &e));
			assert_true(card->ops->read(card, 18, 18, 0xfffffa + skip, to, k, &e));
			assert_memory_equal(from, to, k);
		}
	tessera_device_close(card);
	chip_clear(&driver.chip);
}

static void a_card_that_never_answers_is_given_up(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	size_t n;
	Driver driver;
	const CardSystem system = driver_system(&driver);
	uint8_t *file = odd_package(&n);
	Ttb *t = ttb_open_memory(file, n, &e);
	TesseraDevice *card = card_open(&system, 3, &e);
	TesseraProgram *p = load_and_submit(card, t);
	static float y[3 * 40 * 33];
	const TesseraTensor out = tessera_output(t, 0);
	const TesseraArray to = tessera_array(&out, y);

	tessera_limit(p, (TesseraLimits){ .seconds = 0.01 });
	assert_false(tessera_wait(p, &to, 1, &e));
	assert_int_equal(e.code, TESSERA_TIMEOUT);
	assert_string_equal(e.text, "card:3 (untested on silicon): no answer to run 1: "
				    "seconds without a new op: 0.01");
	assert_non_null(strstr(e.detail, "core (4,0): op first, started 0, finished 0 0 0 0\n"));
	tessera_device_close(card);
	chip_clear(&driver.chip);
	ttb_close(t);
	free(file);
}

static void a_driver_that_refuses_is_told(void **state)
{
	(void)state;
	static const struct {
		int fails;
		uint32_t number;
		uint16_t device;
		const char *says;
	} cases[] = {
		{ 0, 4, KMD_WORMHOLE, "/dev/tenstorrent/4: No such file or directory" },
		{ 0, 3, 0xb140,
		  "/dev/tenstorrent/3: device 1e52:b140 is not a Wormhole, which is 1e52:401e" },
		{ KMD_DEVICE_INFO, 3, KMD_WORMHOLE,
		  "/dev/tenstorrent/3: not a Tenstorrent card: Invalid argument" },
		{ KMD_ALLOCATE_TLB, 3, KMD_WORMHOLE,
		  "/dev/tenstorrent/3: the driver gives no window: Invalid argument" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		TesseraError e = { 0 };
		Driver driver;
		const CardSystem system = driver_system(&driver);

		driver.fails = cases[i].fails;
		driver.device = cases[i].device;
		assert_null(card_open(&system, cases[i].number, &e));
		assert_string_equal(e.text, cases[i].says);
		assert_int_equal(driver.open, 0);
		assert_int_equal(driver.windows, 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_card_gets_what_the_simulator_gets),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(a_card_that_never_answers_is_given_up),
		cmocka_unit_test(a_driver_that_refuses_is_told),
	};

	if (argc < 2)
		return 2;
	fake = argv[1];
	unsetenv("FAKE_TTSIM");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
