/** Runs test files in this one process: to load what they have in common takes longer than most of them. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

for (const path of process.env.TEST_FILES!.split(' ')) {
  // Among others it would not be noticed.
  if (!readFileSync(path, 'utf8').includes('t.test(')) throw new Error(`${path} has no tests`)
  await import(resolve(path))
}
