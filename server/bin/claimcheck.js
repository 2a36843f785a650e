#!/usr/bin/env node
import { nameSources } from '../dist/base/stack-traces.js'
import { run } from '../dist/program/claimcheck.js'

nameSources(new URL('../dist/program/', import.meta.url))
await run(process.argv.slice(2))
