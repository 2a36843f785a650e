/** Test data that others published: `test/conformance/SOURCES.txt`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const CONFORMANCE_DIR = 'test/conformance'

export function readPublished(...path: string[]): string {
  return readFileSync(join(CONFORMANCE_DIR, ...path), 'utf8')
}
