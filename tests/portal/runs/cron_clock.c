/*
 * Loaded into Debian's cron daemon: gives it a clock that jumps over each sleep and from window to
 * window, a directory of its own, and prints the time (seconds since 1970) instead of starting a job.
 *
 * CRON_DIR is the directory; CRON_WINDOWS are the windows, as FIRST-LAST,FIRST-LAST,...
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static time_t now, last;
static char *windows;

static void next_window(void)
{
    if (sscanf(windows, "%ld-%ld", &now, &last) != 2) {
        fflush(stdout);
        _exit(0);
    }
    char *comma = strchr(windows, ',');
    windows = comma ? comma + 1 : "";
}

__attribute__((constructor)) static void begin(void)
{
    windows = getenv("CRON_WINDOWS");
    next_window();
}

time_t time(time_t *at)
{
    if (at) *at = now;
    return now;
}

unsigned int sleep(unsigned int seconds)
{
    now += seconds;
    if (now >= last) next_window();
    return 0;
}

pid_t fork(void)
{
    printf("%ld\n", now);
    return 999999;
}

static int is_of_the_machine(const char *path) { return !strncmp(path, "/etc/cron", 9); }

int chdir(const char *path)
{
    static int (*real)(const char *);
    if (!real) real = dlsym(RTLD_NEXT, "chdir");
    return real(getenv("CRON_DIR"));
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    if (!real) real = dlsym(RTLD_NEXT, "open");
    if (is_of_the_machine(path)) {
        errno = ENOENT;
        return -1;
    }
    return real(strncmp(path, "/var/run/", 9) ? path : "pid", flags, 0600);
}

int stat(const char *path, struct stat *found)
{
    static int (*real)(const char *, struct stat *);
    if (!real) real = dlsym(RTLD_NEXT, "stat");
    if (is_of_the_machine(path)) {
        errno = ENOENT;
        return -1;
    }
    return real(path, found);
}

DIR *opendir(const char *path)
{
    static DIR *(*real)(const char *);
    if (!real) real = dlsym(RTLD_NEXT, "opendir");
    return is_of_the_machine(path) ? NULL : real(path);
}

/* Says that the jobs of a boot have run. */
int access(const char *path, int mode) { return 0; }
