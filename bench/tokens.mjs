// tokens.mjs: counts the tokens of what comes on stdin, by two published tokenizers.
//
// usage: npm install --prefix FOLDER gpt-tokenizer@4.0.0 @anthropic-ai/tokenizer@0.0.4
//        amdahl brief FAMILY | node bench/tokens.mjs FOLDER
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const load = createRequire(resolve(process.argv[2] ?? '.', 'package.json'))
const text = readFileSync(0, 'utf8')
console.log(`${Buffer.byteLength(text)} bytes`)
console.log(`${load('gpt-tokenizer/encoding/o200k_base').encode(text).length} tokens (o200k_base)`)
console.log(`${load('@anthropic-ai/tokenizer').countTokens(text)} tokens (tokenizer of Claude 2)`)
