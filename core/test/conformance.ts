/** Test data that others published. It is not part of the project: without it the tests that need it are skipped, and say so. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const CONFORMANCE_DIR = process.env.CONFORMANCE_DIR ?? '../shared/conformance'

/** The options of a test that needs the data. */
export const published = existsSync(CONFORMANCE_DIR)
  ? {}
  : { skip: `no published test data in ${CONFORMANCE_DIR}; set CONFORMANCE_DIR` }

export function readPublished(...path: string[]): string {
  return readFileSync(join(CONFORMANCE_DIR, ...path), 'utf8')
}
