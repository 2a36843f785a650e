/** Runs several test files in this one process, one after another: to load what they have in common takes longer than most of them. */
import { resolve } from 'node:path'
import t from 'tap'
import { afterFile, endFile } from '../test/support/after-file.ts'
import { startFile } from './file-time.ts'

const LONGEST_END_MS = 15_000

// tap would end the run at the first pause after a teardown was given, and leave out the tests of the other files.
t.teardown = t.after = afterFile

for (const path of process.env.TEST_FILES!.split(' ')) {
  const end = startFile(path)
  const before = testsSoFar()
  await import(resolve(path))
  let after = before
  // This test runs when all tests of the file have run.
  await t.test(`${path} has tests`, async (t) => {
    after = testsSoFar()
    t.ok(after > before)
  })
  if (after === before) throw new Error(`the tests of ${path} did not run`)
  await endFile()
  t.comment(end())
}
t.end()
// The process ends even if a browser left something open, which would hold up the whole run: all tests are counted by now.
setTimeout(() => {
  process.stderr.write(`left open: ${process.getActiveResourcesInfo().join(' ')}\n`)
  process.exit()
}, LONGEST_END_MS).unref()

/** Counts skipped tests, too. */
function testsSoFar(): number {
  return t.count
}
