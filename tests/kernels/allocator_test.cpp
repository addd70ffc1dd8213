// SPDX-License-Identifier: Apache-2.0
#include "kernels/allocator.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kvcaliper::kernels {
namespace {

class AllocatorTest : public testing::Test {
  protected:
    std::unique_ptr<Backend> backend_ = make_cpu_backend();
    CountingAllocator allocator_{*backend_};
};

TEST_F(AllocatorTest, CountsLiveAndPeakBytesByTagAndGuardsApart) {
    {
        const GuardedBuffer a = allocator_.allocate("key", 1000);
        const GuardedBuffer b = allocator_.allocate("key", 50);
        const GuardedBuffer c = allocator_.allocate("io", 7);
        EXPECT_EQ(allocator_.tag("key").live, 1050);
        EXPECT_EQ(allocator_.tag("key").count, 2);
        EXPECT_EQ(allocator_.tag("io").live, 7);
        EXPECT_EQ(allocator_.guards().live, 3 * 2 * guard_bytes);
        EXPECT_EQ(allocator_.live_bytes(), 1057 + 3 * 2 * guard_bytes);
    }
    EXPECT_EQ(allocator_.tag("key").live, 0);
    EXPECT_EQ(allocator_.tag("key").peak, 1050);
    EXPECT_EQ(allocator_.live_bytes(), 0);
    EXPECT_EQ(allocator_.tag("nothing").count, 0);
}

TEST_F(AllocatorTest, ANewBufferIsPoisonedBetweenIntactGuards) {
    const GuardedBuffer buffer = allocator_.allocate("key", 1001);
    EXPECT_EQ(buffer.guard_hits().before, 0);
    EXPECT_EQ(buffer.guard_hits().after, 0);
    EXPECT_EQ(buffer.untouched_bytes(1), 1001);
    EXPECT_EQ(buffer.untouched_bytes(2), 1000);
}

TEST_F(AllocatorTest, SeesHowFarAWriteWent) {
    const GuardedBuffer buffer = allocator_.allocate("key", 100, 5'000'000);
    auto* bytes = buffer.as<unsigned char>();
    std::memset(bytes, 0, 100 + 4'900'000);
    EXPECT_EQ(buffer.guard_hits().after, 4'900'000);
    EXPECT_EQ(buffer.untouched_bytes(2), 0);
    bytes[-3] = 0;
    EXPECT_EQ(buffer.guard_hits().before, 3);
}

TEST_F(AllocatorTest, CountsElementsThatWereNeverWritten) {
    const GuardedBuffer buffer = allocator_.allocate("state", 4000);
    std::memset(buffer.data(), 0, 4000 - 12);
    EXPECT_EQ(buffer.untouched_bytes(4), 12);
    buffer.as<unsigned char>()[4000 - 11] = 7; // one byte of an element was written: it was touched
    EXPECT_EQ(buffer.untouched_bytes(4), 8);
}

TEST_F(AllocatorTest, CountsBlocksThatWereNeverWrittenAndNoBytesThatLookSo) {
    const std::int64_t blocks = 300'000; // more than one piece of memory is looked at
    const GuardedBuffer buffer = allocator_.allocate("key", 34 * blocks + 20);
    auto* bytes = buffer.as<unsigned char>();
    EXPECT_EQ(buffer.untouched_bytes(34), 34 * blocks + 20);
    for (std::int64_t i = 0; i < blocks; ++i)
        bytes[34 * i + 1] = 0x3c; // of the scale; the quants stay -1
    EXPECT_EQ(buffer.untouched_bytes(34), 20);
    bytes[34 * 200'000 + 1] = 0xff;
    EXPECT_EQ(buffer.untouched_bytes(34), 34 + 20);
}

TEST_F(AllocatorTest, ABufferWithoutAPredictionHasRoomForItsKernel) {
    const GuardedBuffer buffer = allocator_.allocate("rope_key", 0, 10'000);
    EXPECT_EQ(buffer.bytes(), 0);
    std::memset(buffer.data(), 1, 10'000);
    EXPECT_EQ(buffer.guard_hits().after, 10'000);
    EXPECT_EQ(guarded_bytes(0, 10'000), guard_bytes + 10'000 + guard_bytes);
    EXPECT_EQ(guarded_bytes(500, 100), guard_bytes + 500 + guard_bytes);
}

} // namespace
} // namespace kvcaliper::kernels
