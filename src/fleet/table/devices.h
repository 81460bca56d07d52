// devices.h: parses accelerators in table cells.
#pragma once

#include <optional>
#include <string_view>

namespace amdahl::fleet::table {

// "1=40,2=170000,1001=2" of Slurm's database: ids from 1001 on are the site's own resources.
// Devices may be listed with and without their type, so the largest count is used. Nothing if the
// cell has another form.
std::optional<double> devices_by_number(std::string_view cell);

// "3" for "gpu3", "card3", "/dev/nvidia3" and "GPU 3"; anything else is unchanged.
std::string_view accelerator_index(std::string_view cell);

// "n1" for "slot1_2@n1" (HTCondor) and "32*n1" (LSF); anything else is unchanged.
std::string_view host_of_slot(std::string_view cell);

}  // namespace amdahl::fleet::table
