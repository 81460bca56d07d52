// app.h: one function per verb.
#pragma once
