#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// From its second start on, Node 22 and newer load modules as the first start compiled them. Node's own default is a folder that every
// user of the machine may write, and what is in the cache runs.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compile-cache', import.meta.url)))
const { run } = await import('../dist/cli/main.js')
await run(process.argv.slice(2))
