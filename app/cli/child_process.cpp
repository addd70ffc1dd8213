// SPDX-License-Identifier: Apache-2.0
#include "app/cli/child_process.h"

#include "core/error.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT: POSIX says so

namespace kvcaliper::cli {

namespace fs = std::filesystem;

namespace {

/// A file descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    void reset(int fd) {
        close();
        fd_ = fd;
    }
    void close() {
        if (fd_ >= 0) {
            ::close(fd_);
            fd_ = -1;
        }
    }

  private:
    int fd_;
};

struct Pipe {
    Descriptor read;
    Descriptor write;
    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
            throw Error(std::string("pipe: ") + std::strerror(errno), ErrorKind::impossible_here);
        }
        read.reset(ends[0]);
        write.reset(ends[1]);
    }
};

volatile std::sig_atomic_t forwarded_to = 0; // the child that signals are passed on to

void forward_signal(int number) {
    if (forwarded_to > 0) {
        ::kill(forwarded_to, number);
    }
}

/// While it lives, SIGINT and SIGTERM go to the child, and a closed pipe is an error code.
class SignalForwarding {
  public:
    explicit SignalForwarding(pid_t child) {
        forwarded_to = child;
        struct sigaction action {};
        action.sa_handler = forward_signal;
        action.sa_flags = SA_RESTART;
        ::sigaction(SIGINT, &action, &old_interrupt_);
        ::sigaction(SIGTERM, &action, &old_terminate_);
        action.sa_handler = SIG_IGN;
        ::sigaction(SIGPIPE, &action, &old_pipe_);
    }
    SignalForwarding(const SignalForwarding&) = delete;
    SignalForwarding& operator=(const SignalForwarding&) = delete;
    ~SignalForwarding() {
        ::sigaction(SIGINT, &old_interrupt_, nullptr);
        ::sigaction(SIGTERM, &old_terminate_, nullptr);
        ::sigaction(SIGPIPE, &old_pipe_, nullptr);
        forwarded_to = 0;
    }

  private:
    struct sigaction old_interrupt_ {};
    struct sigaction old_terminate_ {};
    struct sigaction old_pipe_ {};
};

pid_t spawn(const std::string& program, const std::vector<std::string>& arguments, int child_input,
            int child_output) {
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child_input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child_output, STDOUT_FILENO);
    pid_t child = 0;
    const int failed =
        posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        throw Error(program + ": " + std::strerror(failed), ErrorKind::impossible_here);
    }
    return child;
}

void write_all(int fd, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
        if (count < 0 && errno != EINTR) {
            return; // the child has ended: its exit code tells
        }
        done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
}

void read_lines(int fd, const std::function<void(const std::string&)>& on_line) {
    std::string pending;
    std::array<char, 1 << 14> block{};
    for (;;) {
        const ssize_t count = ::read(fd, block.data(), block.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        pending.append(block.data(), static_cast<std::size_t>(count));
        for (std::size_t end; (end = pending.find('\n')) != std::string::npos;) {
            on_line(pending.substr(0, end));
            pending.erase(0, end + 1);
        }
    }
    if (!pending.empty()) {
        on_line(pending);
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

std::string find_program(const char* variable, const std::string& name) {
    if (const char* set = std::getenv(variable); set && *set) {
        if (::access(set, X_OK) == 0) {
            return set;
        }
        throw Error(std::string(set) + ": expected a program (" + variable + "), found none",
                    ErrorKind::impossible_here);
    }
    std::error_code error;
    const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / name;
    if (::access(beside.c_str(), X_OK) == 0) {
        return beside.string();
    }
    throw Error(name + " is not installed here: expected it in " + variable + " or at " +
                    beside.string() + ", found neither",
                ErrorKind::impossible_here);
}

int run_child(const std::string& program, const std::vector<std::string>& arguments,
              const std::string& input, const std::function<void(const std::string&)>& on_line) {
    Pipe to_child;
    Pipe from_child;
    const pid_t child = spawn(program, arguments, to_child.read.get(), from_child.write.get());
    const SignalForwarding forwarding(child);
    to_child.read.close();
    from_child.write.close();
    write_all(to_child.write.get(), input);
    if (input.empty()) {
        to_child.write.close();
    }
    read_lines(from_child.read.get(), on_line);
    return wait_for(child);
}

} // namespace kvcaliper::cli
