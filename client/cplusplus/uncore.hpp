/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libuncore for C++17: uncore.hpp(3). Header only, over uncore.h; link libuncore.
 *
 *	libuncore::region solve("solve");      // ends with its scope; the report is written at exit
 *
 *	libuncore::meter meter;
 *	if (auto error = meter.start())
 *		std::cerr << libuncore::error_text() << '\n';
 *	work();
 *	if (!meter.stop())
 *		if (auto bytes = meter.count(0, "dram.read")) // empty: absent, and meter.why() says
 *why std::cout << *bytes << " bytes\n";
 *
 * Everything that a socket did is counted, not only this program. Nothing here throws, except
 * std::bad_alloc. An error is a std::error_code of the generic category; error_text() explains the
 * last one of this thread in a sentence.
 *
 * In C a struct and a function may share a name, so in C++ `uncore_delta d;` names the function.
 * The types of this namespace are those structures, with their sizes set. The namespace is not
 * called uncore, because that is a structure.
 */
#ifndef UNCORE_HPP
#define UNCORE_HPP

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

/* A function that has a structure's name hides its constructor, as -Wshadow says. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "uncore.h"
#pragma GCC diagnostic pop

namespace libuncore
{

namespace detail
{
using c_sample = struct ::uncore_sample;
using c_delta = struct ::uncore_delta;
using c_machine = struct ::uncore_machine;
} // namespace detail

struct sample : detail::c_sample {
	sample() noexcept : detail::c_sample UNCORE_SAMPLE_INIT
	{
	}
};

struct delta : detail::c_delta {
	delta() noexcept : detail::c_delta UNCORE_DELTA_INIT
	{
	}
};

struct machine : detail::c_machine {
	machine() noexcept : detail::c_machine UNCORE_MACHINE_INIT
	{
	}
};

/* What functions of uncore.h return: a negative errno is an error, all else is not. */
inline std::error_code error_of(int result) noexcept
{
	return result < 0 ? std::error_code(-result, std::generic_category()) : std::error_code();
}

/* Why the last call of this thread failed, and what to do. */
inline const char *error_text() noexcept
{
	return ::uncore_error_text();
}

/* A passage through a region of code, from here to the end of the scope, in one thread. */
class region
{
      public:
	explicit region(const char *name) noexcept
	{
		begun(name, ::uncore_region_begin(name));
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;
	~region()
	{
		end();
	}

	/* Of the begin. The region is measured all the same if it is opened again later. */
	std::error_code error() const noexcept
	{
		return error_;
	}

	/* Ends this region and begins another one in its place, with one reading for both. */
	std::error_code next(const char *name) noexcept
	{
		int result = is_open_ ? ::uncore_region_next(name_, name) : -EINVAL;

		if (result != -EINVAL && result != -ENOSPC)
			begun(name, result);
		return error_of(result);
	}

	/* Before the end of the scope. EINVAL: a region inside is still open, and so is this one.
	 */
	std::error_code end() noexcept
	{
		const int result = is_open_ ? ::uncore_region_end(name_) : 0;

		is_open_ = result == -EINVAL;
		return error_of(result);
	}

      private:
	void begun(const char *name, int result) noexcept
	{
		error_ = error_of(result);
		is_open_ = result != -EINVAL && result != -ENOSPC;
		if (is_open_)
			std::strncpy(name_, name, sizeof name_ - 1);
	}

	char name_[64] = {}; /* with the final NUL, as long as a name may be */
	bool is_open_ = false;
	std::error_code error_;
};

/* A passage that may end in another thread, and interleave with others. It moves. */
class span
{
      public:
	explicit span(const char *name) noexcept
	    : error_(error_of(::uncore_span_begin(name, &number_)))
	{
	}
	span(span &&other) noexcept : number_(std::exchange(other.number_, 0)), error_(other.error_)
	{
	}
	span &operator=(span &&other) noexcept
	{
		std::swap(number_, other.number_);
		std::swap(error_, other.error_);
		return *this;
	}
	~span()
	{
		end();
	}

	std::error_code error() const noexcept
	{
		return error_;
	}

	std::error_code end() noexcept
	{
		const std::uint64_t number = std::exchange(number_, 0);

		return number ? error_of(::uncore_span_end(number)) : std::error_code();
	}

      private:
	std::uint64_t number_ = 0; /* 0: not open */
	std::error_code error_;
};

/* What the sockets moved from start() to stop(), which may be called again and again. One thread at
 * a time uses a meter. */
class meter
{
      public:
	/* As of uncore_open(). Nothing connects before start(). */
	explicit meter(const char *socket_path = nullptr) : path_(socket_path ? socket_path : "")
	{
	}
	meter(const meter &) = delete;
	meter &operator=(const meter &) = delete;
	~meter()
	{
		::uncore_close(handle_);
	}

	std::error_code start()
	{
		deltas_.clear();
		return read(before_);
	}

	/* Refuses with ESTALE if counts may be lost, because uncored was restarted. */
	std::error_code stop()
	{
		std::vector<delta> deltas;
		std::error_code error = before_.empty() ? error_of(-EINVAL) : read(after_);

		for (std::size_t i = 0; !error && i < before_.size(); i++) {
			deltas.emplace_back();
			error = i < after_.size() ? error_of(::uncore_delta(
							    &before_[i], &after_[i], &deltas[i]))
						  : error_of(-ESTALE);
		}
		if (!error)
			deltas_ = std::move(deltas);
		return error;
	}

	/* By socket; empty until stop() has succeeded. */
	const std::vector<delta> &deltas() const noexcept
	{
		return deltas_;
	}

	/* In the metric's unit. Empty: absent. */
	std::optional<std::uint64_t> count(std::size_t socket, const char *metric) const noexcept
	{
		const auto *value = find(socket, metric);

		if (!value || value->quality & UNCORE_ABSENT)
			return std::nullopt;
		return value->count;
	}

	/* Of all sockets. Empty: absent on one of them. */
	std::optional<std::uint64_t> count(const char *metric) const noexcept
	{
		std::uint64_t sum = 0;

		for (std::size_t i = 0; i < deltas_.size(); i++) {
			const auto one = count(i, metric);

			if (!one)
				return std::nullopt;
			sum += *one;
		}
		return deltas_.empty() ? std::nullopt : std::optional<std::uint64_t>(sum);
	}

	/* Why count() is empty. */
	std::string why(std::size_t socket, const char *metric) const
	{
		const auto *value = find(socket, metric);

		if (deltas_.empty())
			return "Nothing was measured yet.";
		return value ? ::uncore_why(handle_, value->why)
			     : "There is no such socket or metric on this platform.";
	}

	/* Words of flags, as "standin"; uncore(1) explains them. */
	std::string quality(std::size_t socket, const char *metric) const
	{
		char words[UNCORE_TEXT_MAX] = "";
		const auto *value = find(socket, metric);

		if (value)
			::uncore_quality_words(value->quality, words, sizeof words);
		return words;
	}

	/* The time in which a socket's counts were taken, and by how much they are uncertain for
	 * steady traffic, as a part of a count. */
	double seconds(std::size_t socket) const noexcept
	{
		return socket < deltas_.size()
			       ? static_cast<double>(deltas_[socket].window_ns) * 1e-9
			       : 0;
	}
	double error_bound(std::size_t socket) const noexcept
	{
		return seconds(socket) > 0 ? static_cast<double>(deltas_[socket].skew_ns) /
						     static_cast<double>(deltas_[socket].window_ns)
					   : 1;
	}

      private:
	const ::uncore_delta_value *find(std::size_t socket, const char *metric) const noexcept
	{
		const int index = handle_ ? ::uncore_find_metric(handle_, metric) : -ENOENT;

		return index >= 0 && socket < deltas_.size() ? &deltas_[socket].values[index]
							     : nullptr;
	}

	std::error_code open()
	{
		struct ::uncore *handle;
		const int result = ::uncore_open(path_.empty() ? nullptr : path_.c_str(), &handle);

		if (result == 0) {
			::uncore_close(handle_);
			handle_ = handle;
		}
		return error_of(result);
	}

	std::error_code read_once(std::vector<sample> &samples)
	{
		machine here;
		const std::error_code error = error_of(::uncore_describe(handle_, &here));

		if (error)
			return error;
		samples.assign(here.n_sockets, sample());
		return error_of(
			::uncore_read_all(handle_, UNCORE_FRESH, samples.data(), here.n_sockets));
	}

	/* Connects again after a restart of uncored. */
	std::error_code read(std::vector<sample> &samples)
	{
		std::error_code error = handle_ ? read_once(samples) : error_of(-ENOTCONN);

		if (error == std::errc::not_connected || error == std::errc::permission_denied) {
			error = open();
			if (!error)
				error = read_once(samples);
		}
		return error;
	}

	std::string path_;
	struct ::uncore *handle_ = nullptr;
	std::vector<sample> before_, after_;
	std::vector<delta> deltas_;
};

/* uncored's whole state as JSON, as `uncore info --json` prints it. */
inline std::error_code info(std::string &ret_json)
{
	char *text = nullptr;
	const int result = ::uncore_info(nullptr, &text);

	if (result == 0)
		ret_json = text;
	std::free(text);
	return error_of(result);
}

} // namespace libuncore

#endif
