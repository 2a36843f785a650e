import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivateFile, writeNewFile } from '@claimcheck/server/base/files'
import t from 'tap'

t.test('a new file is whole, for its owner alone, and so is its folder', async (t) => {
  const folder = t.testdir()
  const path = join(folder, 'deep', 'key')
  t.equal(writeNewFile(path, 'content'), true)
  t.equal(readPrivateFile(path), 'content')
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(statSync(join(folder, 'deep')).mode & 0o777, 0o700)
})

t.test('what is there is never replaced, and nothing is left beside it', async (t) => {
  const folder = t.testdir({ key: 'first' })
  t.equal(writeNewFile(join(folder, 'key'), 'second'), false)
  t.equal(readFileSync(join(folder, 'key'), 'utf8'), 'first')
  t.strictSame(readdirSync(folder), ['key'])
})

t.test('what cannot be written throws, and leaves nothing', async (t) => {
  const folder = t.testdir({ file: '' })
  t.throws(() => writeNewFile(join(folder, 'file', 'key'), 'content'), { code: /ENOTDIR|EEXIST/ })
  t.throws(() => writeNewFile(join(folder, 'x'.repeat(300)), 'content'), { code: 'ENAMETOOLONG' })
  t.strictSame(readdirSync(folder), ['file'])
})

t.test('a private file that others can read is not read', async (t) => {
  const path = join(t.testdir(), 'key')
  writeFileSync(path, 'content')
  for (const mode of [0o604, 0o640, 0o610, 0o602]) {
    chmodSync(path, mode)
    t.throws(() => readPrivateFile(path), mode.toString(8))
  }
  chmodSync(path, 0o600)
  t.equal(readPrivateFile(path), 'content')
  t.throws(() => readPrivateFile(`${path}.none`), { code: 'ENOENT' })
})
