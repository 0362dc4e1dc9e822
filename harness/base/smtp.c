// SPDX-License-Identifier: GPL-2.0-or-later
// The one wrapper around libcurl.
#include "harness/base/smtp.h"

#include "harness/base/clock.h"
#include "harness/base/util.h"

#include <curl/curl.h>

/* The message as it is read by libcurl. */
struct feed {
	struct buf text; /* lines end in \r\n */
	size_t at;
	bool over;
	int (*handing_over)(void *arg, struct err *err);
	void *arg;
	struct err *err;
	int failed;
};

static size_t feed_read(char *to, size_t size, size_t n, void *arg)
{
	struct feed *f = arg;
	size_t left = f->text.len - f->at, take = MIN(size * n, left);

	/* the answer 0 makes libcurl write the last dot */
	if (take == 0 && !f->over) {
		f->failed = f->handing_over(f->arg, f->err);
		f->over = f->failed >= 0;
	}
	if (f->failed < 0)
		return CURL_READFUNC_ABORT;
	memcpy(to, buf_str(&f->text) + f->at, take);
	f->at += take;
	return take;
}

static void add_lines(struct buf *out, const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == '\n' && (i == 0 || text->data[i - 1] != '\r'))
			buf_addch(out, '\r');
		buf_addch(out, text->data[i]);
	}
}

static void set_server(CURL *curl, const struct smtp_server *s, const char *url)
{
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(s->timeout_ns / NS_PER_MS));
	curl_easy_setopt(curl, CURLOPT_USE_SSL,
			 s->tls == SMTP_PLAIN ? (long)CURLUSESSL_NONE : (long)CURLUSESSL_ALL);
	if (s->ca_file) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, s->ca_file);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	if (s->user) {
		curl_easy_setopt(curl, CURLOPT_USERNAME, s->user);
		curl_easy_setopt(curl, CURLOPT_PASSWORD, s->password);
	}
}

static void set_mail(CURL *curl, const char *from, struct curl_slist *to, struct feed *feed)
{
	curl_easy_setopt(curl, CURLOPT_MAIL_FROM, from);
	curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, to);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, feed_read);
	curl_easy_setopt(curl, CURLOPT_READDATA, feed);
}

/* What the server's last word makes of it. */
static enum smtp_end end_of(CURL *curl, CURLcode rc, const struct feed *feed)
{
	long answer = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
	if (rc == CURLE_OK)
		return SMTP_SENT;
	/* 354 still is the answer to DATA, before the last dot */
	return !feed->over || answer >= 400 ? SMTP_NOT_SENT : SMTP_HANDED_OVER;
}

static int perform(CURL *curl, const struct smtp_server *s, struct feed *feed,
		   enum smtp_end *ret_end, struct err *err)
{
	char why[CURL_ERROR_SIZE] = "";
	long answer = 0;
	CURLcode rc;

	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	rc = curl_easy_perform(curl);
	*ret_end = end_of(curl, rc, feed);
	if (rc == CURLE_OK)
		return 0;
	if (feed->failed < 0)
		return feed->failed;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
	if (answer >= 400)
		return err_set(err, ERR_IO, "mail server '%s' refused with %ld: %s", s->host,
			       answer, *why ? why : curl_easy_strerror(rc));
	return err_set(err, ERR_IO, "mail server '%s': %s", s->host,
		       *why ? why : curl_easy_strerror(rc));
}

int smtp_send(const struct smtp_server *server, const char *from, const char *const *to,
	      const struct buf *text, int (*handing_over)(void *arg, struct err *err), void *arg,
	      enum smtp_end *ret_end, struct err *err)
{
	autofree char *url =
		xasprintf("%s://%s", server->tls == SMTP_TLS ? "smtps" : "smtp", server->host);
	struct feed feed = {.handing_over = handing_over, .arg = arg, .err = err};
	struct curl_slist *list = NULL;
	CURL *curl;
	int rc;

	*ret_end = SMTP_NOT_SENT;
	if (server->user && server->tls == SMTP_PLAIN)
		return err_set(err, ERR_USAGE, "a password is not sent to '%s' without TLS",
			       server->host);
	curl = curl_easy_init();
	for (; *to; to++)
		list = curl_slist_append(list, *to);
	if (!curl || !list) {
		curl_slist_free_all(list);
		curl_easy_cleanup(curl);
		return err_set(err, ERR_IO, "libcurl cannot be started");
	}
	add_lines(&feed.text, text);
	set_server(curl, server, url);
	set_mail(curl, from, list, &feed);
	rc = perform(curl, server, &feed, ret_end, err);
	curl_slist_free_all(list);
	curl_easy_cleanup(curl);
	buf_release(&feed.text);
	return rc;
}
