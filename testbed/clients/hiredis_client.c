// hiredis with its defaults: hiredis_client HOST PORT
#include <assert.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *client;

static void check(redisReply *reply, int type, const char *text, size_t length) {
    if (reply == NULL || reply->type != type || reply->len != length || memcmp(reply->str, text, length) != 0) {
        printf("hiredis: FAILED, wanted %.80s, found %.80s\n", text, reply == NULL ? client->errstr : reply->str);
        exit(1);
    }
    freeReplyObject(reply);
}

static void check_number(redisReply *reply, long long number) {
    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER || reply->integer != number) {
        printf("hiredis: FAILED, wanted %lld, found %s\n", number, reply == NULL ? client->errstr : reply->str);
        exit(1);
    }
    freeReplyObject(reply);
}

static void check_scan(void) {
    char cursor[32] = "0";
    size_t found = 0;
    do {
        redisReply *page = redisCommand(client, "SCAN %s MATCH k* COUNT 7", cursor);
        assert(page != NULL && page->type == REDIS_REPLY_ARRAY && page->elements == 2);
        snprintf(cursor, sizeof cursor, "%s", page->element[0]->str);
        found += page->element[1]->elements;
        freeReplyObject(page);
    } while (strcmp(cursor, "0") != 0);
    assert(found == 100);
}

int main(int argc, char **argv) {
    client = redisConnect(argc > 1 ? argv[1] : "127.0.0.1", argc > 2 ? atoi(argv[2]) : 6379);
    assert(client != NULL && client->err == 0);
    check(redisCommand(client, "FLUSHDB"), REDIS_REPLY_STATUS, "OK", 2);
    check(redisCommand(client, "SET a 1"), REDIS_REPLY_STATUS, "OK", 2);
    check(redisCommand(client, "GET a"), REDIS_REPLY_STRING, "1", 1);
    check(redisCommand(client, "GET no"), REDIS_REPLY_NIL, "", 0);
    for (int i = 0; i < 100; i++) check(redisCommand(client, "MSET k%d v%d", i, i), REDIS_REPLY_STATUS, "OK", 2);
    check_scan();
    check_number(redisCommand(client, "INCR n"), 1);
    for (int i = 0; i < 1000; i++) redisAppendCommand(client, "SET p%d %d", i, i);
    for (int i = 0; i < 1000; i++) {
        void *reply = NULL;
        assert(redisGetReply(client, &reply) == REDIS_OK);
        check(reply, REDIS_REPLY_STATUS, "OK", 2);
    }
    char binary[256];
    for (int i = 0; i < 256; i++) binary[i] = (char) i;
    check(redisCommand(client, "SET %b %b", binary, sizeof binary, binary, sizeof binary), REDIS_REPLY_STATUS, "OK", 2);
    check(redisCommand(client, "GET %b", binary, sizeof binary), REDIS_REPLY_STRING, binary, sizeof binary);
    size_t length = 5000000;
    char *big = malloc(length);
    assert(big != NULL);
    memset(big, 'x', length);
    check(redisCommand(client, "SET big %b", big, length), REDIS_REPLY_STATUS, "OK", 2);
    check(redisCommand(client, "GET big"), REDIS_REPLY_STRING, big, length);
    check_number(redisCommand(client, "ZADD z 1.5 a"), 1);
    check(redisCommand(client, "ZSCORE z a"), REDIS_REPLY_STRING, "1.5", 3);
    check(redisCommand(client, "SET text x"), REDIS_REPLY_STATUS, "OK", 2);
    const char *refusal = "ERR value is not an integer or out of range";
    check(redisCommand(client, "INCR text"), REDIS_REPLY_ERROR, refusal, strlen(refusal));
    redisFree(client);
    free(big);
    printf("hiredis %d.%d.%d, defaults: as expected\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}
