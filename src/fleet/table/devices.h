// devices.h: accelerators as cells of tables name and count them.
#pragma once

#include <optional>
#include <string_view>

namespace amdahl::fleet::table {

// "1=40,2=170000,1001=2" of Slurm's database: numbers from 1001 on are the site's own resources.
// The same devices may stand there with and without their type, so the largest is taken. Nothing if
// the cell is not of this form.
std::optional<double> devices_by_number(std::string_view cell);

// "3" of "gpu3", "card3", "/dev/nvidia3" and "GPU 3"; anything else as it is.
std::string_view accelerator_index(std::string_view cell);

// "n1" of "slot1_2@n1" (HTCondor) and "32*n1" (LSF); anything else as it is.
std::string_view host_of_slot(std::string_view cell);

}  // namespace amdahl::fleet::table
