#!/usr/bin/env -S node --max-semi-space-size=64
import { nameSources } from '../dist/base/stack-traces.js'
import { run } from '../dist/program/claimcheck.js'

nameSources(new URL('../dist/program/', import.meta.url))
await run(process.argv.slice(2))
