/**
 * Loaded before tap, in each process of tests. tap follows every promise, to tell in which test an unhandled error arose; that takes
 * a seventh of the tests' processor time. Without it such an error ends the process, and with that the run fails as well.
 */
import asyncHooks, { type AsyncHook } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const nothing: AsyncHook = { enable: () => nothing, disable: () => nothing }

asyncHooks.createHook = () => nothing
syncBuiltinESMExports()
