/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore export --http` answers to which head of a request. */
#include <string.h>

#include "client/command/export/http-request.h"
#include "common/macro.h"
#include "tests/harness/test.h"

struct expectation {
	const char *head;
	enum http_status status;
};

static void judge_all(const struct expectation *expectations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *head = expectations[i].head;
		bool without_body;
		enum http_status status = http_request_judge(head, strlen(head), &without_body);

		if (status != expectations[i].status)
			fail_msg("%d, not %d, for: %s", (int)status, (int)expectations[i].status,
				head);
	}
}

CASE("the metrics are got")
{
	static const struct expectation good[] = {
		{ "GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n", HTTP_OK },
		{ "GET /metrics HTTP/1.0\n\n", HTTP_OK },
		{ "GET /metrics?name=x&name=y HTTP/1.1\r\n\r\n", HTTP_OK },
		{ "HEAD /metrics HTTP/1.1\r\n\r\n", HTTP_OK },
		{ "GET http://a/metrics HTTP/1.1\r\n\r\n", HTTP_OK },
		{ "GET http://a:9617/metrics?x HTTP/1.1\r\n\r\n", HTTP_OK },
	};

	judge_all(good, ARRAY_SIZE(good));
}

CASE("everything else has its refusal")
{
	static const struct expectation bad[] = {
		{ "GET / HTTP/1.1\r\n\r\n", HTTP_NOT_FOUND },
		{ "GET /metricsX HTTP/1.1\r\n\r\n", HTTP_NOT_FOUND },
		{ "GET //metrics HTTP/1.1\r\n\r\n", HTTP_NOT_FOUND },
		{ "GET http://a HTTP/1.1\r\n\r\n", HTTP_NOT_FOUND },
		{ "GET http:// HTTP/1.1\r\n\r\n", HTTP_NOT_FOUND },
		{ "GET http://a/ HTTP/1.1\r\n\r\n", HTTP_NOT_FOUND },
		{ "GET http://a/x/metrics HTTP/1.1\r\n\r\n", HTTP_NOT_FOUND },
		{ "POST /metrics HTTP/1.1\r\n\r\n", HTTP_METHOD_NOT_ALLOWED },
		{ "get /metrics HTTP/1.1\r\n\r\n", HTTP_METHOD_NOT_ALLOWED },
		{ "PRI * HTTP/2.0\r\n\r\n", HTTP_VERSION_NOT_SUPPORTED },
		{ "GET /metrics HTTP/1.1 x\r\n\r\n", HTTP_VERSION_NOT_SUPPORTED },
		{ "GET /metrics HTTP/1.\r\n\r\n", HTTP_VERSION_NOT_SUPPORTED },
		{ "GET /metrics\r\n\r\n", HTTP_BAD_REQUEST },
		{ "GET  /metrics HTTP/1.1\r\n\r\n", HTTP_BAD_REQUEST },
		{ " GET /metrics HTTP/1.1\r\n\r\n", HTTP_BAD_REQUEST },
		{ "GET\r\n\r\n", HTTP_BAD_REQUEST }, { "\r\n\r\n", HTTP_BAD_REQUEST },
		{ "\n\n", HTTP_BAD_REQUEST }, { "", HTTP_BAD_REQUEST },
		{ "\x16\x03\x01\n\n", HTTP_BAD_REQUEST }, /* TLS */
	};

	judge_all(bad, ARRAY_SIZE(bad));
}

CASE("only head is answered without a body")
{
	bool without_body;

	http_request_judge("HEAD /metrics HTTP/1.1\r\n\r\n", 26, &without_body);
	assert_true(without_body);
	http_request_judge("GET /metrics HTTP/1.1\r\n\r\n", 25, &without_body);
	assert_false(without_body);
}

CASE("a nul ends nothing")
{
	static const char head[] = "GET /metrics\0 HTTP/1.1\r\n\r\n";
	bool without_body;

	assert_int_equal(http_request_judge(head, sizeof head - 1, &without_body), HTTP_NOT_FOUND);
	assert_true(http_request_is_whole(head, sizeof head - 1));
}

CASE("a head ends with an empty line")
{
	assert_false(http_request_is_whole("", 0));
	assert_false(http_request_is_whole("GET / HTTP/1.1\r\n", 16));
	assert_false(http_request_is_whole("GET / HTTP/1.1\r\n\r", 17));
	assert_true(http_request_is_whole("GET / HTTP/1.1\r\n\r\n", 18));
	assert_true(http_request_is_whole("GET / HTTP/1.1\n\n", 16));
}
