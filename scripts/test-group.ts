/** Runs several test files in this one process, one after another: to load what they have in common takes longer than most of them. */
import { resolve } from 'node:path'
import t from 'tap'
import { endFile } from '../test/support/after-file.ts'
import { fileTime } from './test-files.ts'

for (const path of process.env.TEST_FILES!.split(' ')) {
  const startedAt = performance.now()
  const before = t.counts.total
  await import(resolve(path))
  // It runs when all tests of the file have run.
  await t.test(`${path} has tests`, async (t) => {
    t.ok(tests() > before)
  })
  await endFile()
  t.comment(fileTime(path, performance.now() - startedAt))
}

function tests(): number {
  return t.counts.total
}
