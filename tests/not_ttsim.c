/* A shared library that is no simulator. */
int not_ttsim(void);

int not_ttsim(void)
{
	return 0;
}
