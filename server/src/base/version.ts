/** This package's version, as its package.json says it. */
import { createRequire } from 'node:module'

export const VERSION: string = createRequire(import.meta.url)('../../package.json').version
