#!/usr/bin/env -S node --max-semi-space-size=64
import { run } from '../dist/cli/main.js'

await run(process.argv.slice(2))
