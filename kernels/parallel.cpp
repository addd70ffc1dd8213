// SPDX-License-Identifier: Apache-2.0
#include "kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace kvcaliper::kernels {
namespace {

class Pool {
  public:
    explicit Pool(int helpers) {
        for (int i = 0; i < helpers; ++i)
            threads_.emplace_back([this] { serve(); });
    }

    ~Pool() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int helpers() const { return static_cast<int>(threads_.size()); }

    void run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
        const std::lock_guard turn(turn_);
        begin(count, task);
        wake_.notify_all();
        work();
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
        task_ = nullptr;
        if (error_)
            std::rethrow_exception(std::exchange(error_, nullptr));
    }

  private:
    void begin(std::int64_t count, const std::function<void(std::int64_t)>& task) {
        const std::lock_guard lock(mutex_);
        task_ = &task;
        count_ = count;
        next_.store(0);
        busy_ = helpers();
        ++round_;
    }

    void work() {
        for (std::int64_t i = next_++; i < count_; i = next_++) {
            try {
                (*task_)(i);
            } catch (...) {
                const std::lock_guard lock(mutex_);
                if (!error_)
                    error_ = std::current_exception();
                next_.store(count_);
            }
        }
    }

    void serve() {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [&] { return stop_ || round_ != seen; });
            if (stop_)
                return;
            seen = round_;
            lock.unlock();
            work();
            lock.lock();
            if (--busy_ == 0)
                done_.notify_one();
        }
    }

    std::vector<std::thread> threads_;
    std::mutex turn_; ///< one run at a time
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(std::int64_t)>* task_ = nullptr;
    std::int64_t count_ = 0;
    std::atomic<std::int64_t> next_{0};
    int busy_ = 0;
    std::uint64_t round_ = 0;
    bool stop_ = false;
    std::exception_ptr error_;
};

Pool& pool() {
    static Pool instance(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1);
    return instance;
}

} // namespace

int thread_count() {
    return pool().helpers() + 1;
}

void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& task) {
    if (count == 1)
        return task(0);
    if (count > 1)
        pool().run(count, task);
}

} // namespace kvcaliper::kernels
