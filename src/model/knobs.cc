#include <array>

#include "model/spec.h"

namespace amdahl::model {
namespace {

constexpr auto kKnobs = std::to_array<KnownKnob>({
    {"batch_size", "items per step"},
    {"loader_workers", "processes or threads that load data"},
    {"prefetch_factor", "batches each loader keeps ready"},
    {"pin_memory", "switch: page-locked buffers for copies to the device"},
    {"persistent_workers", "switch: loaders live across epochs"},
    {"decoded_cache", "switch: decoded inputs are kept for the next run or epoch"},
    {"threads", "CPU threads of the computation"},
    {"log_every", "steps between log lines"},
    {"metric_every", "steps between metrics that wait for the device"},
    {"range_check_every", "steps between checks for NaN and overflow"},
    {"checkpoint_every", "steps between checkpoints"},
    {"checkpoint_async", "switch: checkpoints are written during the computation"},
    {"checkpoint_delta", "switch: checkpoints hold only what changed"},
    {"verify_inputs", "switch: inputs are checked against their digests at start"},
    {"lazy_imports", "switch: modules are loaded when first used"},
    {"inference_mode", "switch: no gradients are kept when only evaluating"},
    {"queue_depth", "requests or batches in flight"},
    {"kernel_cache", "switch: compiled kernels are kept between runs"},
    {"overlap_copies", "switch: copies to the device overlap with the computation"},
    {"compile", "switch: the model is compiled before it runs"},
    {"precision", "number format of the computation"},
    {"validation_every", "steps between validations"},
    {"io_buffer_kb", "KiB per read of the inputs"},
    {"fsync", "switch: every write waits for the disk"},
});

}  // namespace

std::span<const KnownKnob> known_knobs() { return kKnobs; }

}  // namespace amdahl::model
