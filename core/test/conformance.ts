/** Test data that other people published. It is no part of the project: tests that need it say so when it is not there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const CONFORMANCE_DIR = process.env.CONFORMANCE_DIR ?? '../shared/conformance'

/** Options of a test that needs the data. */
export const published = existsSync(CONFORMANCE_DIR)
  ? {}
  : { skip: `no published test data in ${CONFORMANCE_DIR}; set CONFORMANCE_DIR` }

export function readPublished(...path: string[]): string {
  return readFileSync(join(CONFORMANCE_DIR, ...path), 'utf8')
}
