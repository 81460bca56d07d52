// next.h: what to do next, given all that is known. Decides; does nothing.
#pragma once
