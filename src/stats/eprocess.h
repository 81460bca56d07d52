// eprocess.h: betting on the order coin.
#pragma once
