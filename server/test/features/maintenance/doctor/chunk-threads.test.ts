/** Threads that examine chunks of leaves find what one thread finds. */
import { join } from 'node:path'
import { fileUrl } from '@claimcheck/server/config/database-url'
import { type Chunk, chunkChecker } from '@claimcheck/server/features/maintenance/doctor/chunk'
import { startChunkThreads } from '@claimcheck/server/features/maintenance/doctor/chunk-threads'
import t, { type Test } from 'tap'
import { afterFile } from '../../../../../test/support/after-file.ts'
import { openSqlite } from '../../../../../test/support/storage.ts'
import { changedCopy, keepLog } from './kept-log.ts'

const LEAVES = 24
const kept = await keepLog({ leaves: LEAVES, anchors: false })
afterFile(() => kept.remove())

function startThreads(t: Test, file: string) {
  const threads = startChunkThreads({ databaseUrl: fileUrl(file), databaseReadUrl: undefined })
  t.teardown(() => threads.close())
  return threads
}

t.test('threads find what one thread finds, chunk by chunk', async (t) => {
  const [file] = await changedCopy(t, kept.file, async (db) => {
    await db.raw("UPDATE receipts SET entry = replace(entry, 'poaw', 'paow') WHERE leaf_index = 3")
    await db.raw('DELETE FROM receipts WHERE leaf_index = 5')
  })
  const { read, close } = await openSqlite(file)
  t.teardown(close)
  const { logId } = (await read.log.state())!
  const bounds = { keyId: undefined, notBefore: 0, notAfter: Number.MAX_SAFE_INTEGER }
  const chunks = Array.from({ length: LEAVES }, (_, start): Chunk => {
    return { logId, segments: [{ ...bounds, start, end: Math.min(LEAVES, start + 4) }], signatures: true }
  })
  const threads = startThreads(t, file)
  const byThreads = await Promise.all(chunks.map(threads.check))
  for (const [index, chunk] of chunks.entries()) t.strictSame(byThreads[index], await chunkChecker(read)(chunk))
  t.strictSame([...byThreads[4]!.missing], [5])
  t.match(byThreads[3]!.problems.join(), /leaf 3/)
  t.strictSame(byThreads[6]!.problems, [])
})

t.test('heads out of order end no examination', async (t) => {
  const { read, close } = await openSqlite(kept.file)
  t.teardown(close)
  const { logId } = (await read.log.state())!
  const bounds = { keyId: undefined, notBefore: 0, notAfter: Number.MAX_SAFE_INTEGER }
  const segments = [
    { ...bounds, start: 8, end: 4 },
    { ...bounds, start: 4, end: 6 },
  ]
  const { start, derived, missing } = await chunkChecker(read)({ logId, segments, signatures: false })
  t.match({ start, bytes: derived.length, missing: missing.size }, { start: 4, bytes: 64, missing: 0 })
})

t.test('whoever asks threads that could not open the database hears why', async (t) => {
  const threads = startThreads(t, join(t.testdir(), 'no folder', 'claimcheck.db'))
  const nothing = { logId: '', segments: [], signatures: false }
  await t.rejects(threads.check(nothing), { message: /database/ })
})
