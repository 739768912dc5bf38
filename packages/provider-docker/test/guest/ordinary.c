/* What ordinary programs do with the kernel; prints "fine" when all of it works. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *add(void *number) { return (void *)((long)number + 1); }

int main(void) {
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, add, (void *)1) || pthread_join(thread, &result) || (long)result != 2) return 1;
    int status;
    pid_t child = fork();
    if (child == 0) _exit(3);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) return 2;
    if (system("true") != 0) return 3;
    puts("fine");
    return 0;
}
