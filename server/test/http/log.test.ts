import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { startApp, TREE_SIZE } from './support/server.ts'
import { hash, LOG_ID, treeHead } from './support/services.ts'

const app = await startApp()
afterFile(app.close)

const indexes = (json: { entries: { leaf_index: number }[] }) => json.entries.map((entry) => entry.leaf_index)
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, offset) => from + offset)

const anchor = {
  chain: 'eip155:84532',
  scheme: 'eas',
  uid: `0x${'ab'.repeat(32)}`,
  tx_hash: `0x${'cd'.repeat(32)}`,
  tree_size: 2,
  root_hash: hash('root 2'),
  block_number: 7,
  block_time: 1_790_000_000,
}

t.test('the head is sent as it was signed, with the newest anchor', async (t) => {
  const answer = await app.ask('/v1/log/head')
  t.equal(answer.status, 200)
  t.ok(answer.text.includes(treeHead(TREE_SIZE)), 'the signed text is there byte for byte')
  t.same(answer.json.anchor, anchor)
  t.match(answer.headers['content-type'], /^application\/json/)
})

t.test('entries carry leaf index, leaf hash and time, and nothing else', async (t) => {
  const { json } = await app.ask('/v1/log/entries?start=3&limit=2')
  t.same(json, {
    tree_size: TREE_SIZE,
    entries: [
      { leaf_index: 3, leaf_hash: hash('leaf 3'), created_at: '2026-09-25T14:02:11.000Z' },
      { leaf_index: 4, leaf_hash: hash('leaf 4'), created_at: '2026-09-25T14:02:11.000Z' },
    ],
    next: 5,
  })
})

t.test('without start the newest 50 come, with start a range from there', async (t) => {
  t.same(indexes((await app.ask('/v1/log/entries')).json), range(70, 120))
  t.same(indexes((await app.ask('/v1/log/entries?start=0')).json), range(0, 50))
  t.same(indexes((await app.ask('/v1/log/entries?start=10&limit=100')).json), range(10, 110))
  t.same((await app.ask(`/v1/log/entries?start=${TREE_SIZE}`)).json, { tree_size: TREE_SIZE, entries: [], next: null })
})

t.test('an inclusion proof is for the current tree unless a size is named', async (t) => {
  const { json } = await app.ask('/v1/log/proof?leaf_index=1')
  t.same(json, {
    log_id: LOG_ID,
    leaf_index: 1,
    tree_size: TREE_SIZE,
    leaf_hash: hash('leaf 1'),
    root_hash: hash(`root ${TREE_SIZE}`),
    inclusion: [hash('sibling')],
  })
  t.equal((await app.ask('/v1/log/proof?leaf_index=1&tree_size=2')).json.tree_size, 2)
})

t.test('a consistency proof is up to the current tree unless a size is named', async (t) => {
  const { json } = await app.ask('/v1/log/consistency?first=3')
  t.same(json, {
    log_id: LOG_ID,
    first: 3,
    second: TREE_SIZE,
    first_root: hash('root 3'),
    second_root: hash(`root ${TREE_SIZE}`),
    proof: [hash('node')],
  })
  t.same((await app.ask('/v1/log/consistency?first=3&second=3')).json.proof, [])
})

t.test('anchors are listed, older ones with before', async (t) => {
  t.same((await app.ask('/v1/log/anchors')).json, { anchors: [anchor], next: null })
  t.same((await app.ask('/v1/log/anchors?before=2')).json, { anchors: [], next: null })
})

t.test('a bad query is refused at its place', async (t) => {
  const rows: [string, string, string][] = [
    ['entries?limit=0', 'limit', 'greater_than_equal'],
    ['entries?limit=101', 'limit', 'less_than_equal'],
    ['entries?limit=-1', 'limit', 'greater_than_equal'],
    ['entries?limit=1.5', 'limit', 'int_parsing'],
    ['entries?limit=abc', 'limit', 'int_parsing'],
    ['entries?limit=', 'limit', 'int_parsing'],
    ['entries?limit=0x10', 'limit', 'int_parsing'],
    ['entries?limit=1e1', 'limit', 'int_parsing'],
    ['entries?limit=%20', 'limit', 'int_parsing'],
    ['entries?limit=1%00', 'limit', 'int_parsing'],
    ['entries?limit=%F0%9F%A6%8A', 'limit', 'int_parsing'],
    ['entries?limit=%', 'limit', 'int_parsing'],
    [`entries?limit=${'9'.repeat(400)}`, 'limit', 'int_parsing'],
    ['entries?limit=5&limit=5', 'limit', 'int_type'],
    ['entries?start=-1', 'start', 'greater_than_equal'],
    ['entries?start=null', 'start', 'int_parsing'],
    ['entries?start=9007199254740992', 'start', 'less_than_equal'],
    ['proof', 'leaf_index', 'missing'],
    ['proof?leaf_index=-1', 'leaf_index', 'greater_than_equal'],
    ['proof?leaf_index=x', 'leaf_index', 'int_parsing'],
    ['proof?leaf_index=0&tree_size=-1', 'tree_size', 'greater_than_equal'],
    ['consistency', 'first', 'missing'],
    ['consistency?first=-1', 'first', 'greater_than_equal'],
    ['consistency?first=1&second=two', 'second', 'int_parsing'],
    ['anchors?limit=0', 'limit', 'greater_than_equal'],
    ['anchors?limit=101', 'limit', 'less_than_equal'],
    ['anchors?before=-1', 'before', 'greater_than_equal'],
  ]
  for (const [path, name, type] of rows) {
    const answer = await app.ask(`/v1/log/${path}`)
    t.equal(answer.status, 422, path)
    t.match(answer.json.detail, [{ loc: ['query', name], type, msg: String }], path)
    t.equal(answer.json.detail.length, 1, path)
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

t.test('two bad parameters are both named', async (t) => {
  const { json } = await app.ask('/v1/log/entries?start=-1&limit=0')
  t.same(json.detail.map(({ loc }: { loc: string[] }) => loc[1]).sort(), ['limit', 'start'])
})

t.test('what the service refuses is answered with its words', async (t) => {
  const rows: [string, number][] = [
    [`entries?start=${TREE_SIZE + 1}`, 404],
    ['entries?start=9007199254740991', 404],
    [`proof?leaf_index=${TREE_SIZE}`, 400],
    ['proof?leaf_index=2&tree_size=2', 400],
    ['proof?leaf_index=0&tree_size=0', 400],
    [`proof?leaf_index=0&tree_size=${TREE_SIZE + 1}`, 404],
    ['consistency?first=0', 400],
    ['consistency?first=3&second=2', 400],
    [`consistency?first=1&second=${TREE_SIZE + 1}`, 404],
  ]
  for (const [path, status] of rows) {
    t.match(await app.ask(`/v1/log/${path}`), { status, json: { detail: /./ } }, path)
  }
})

t.test('an unknown parameter is passed over', async (t) => {
  t.equal((await app.ask('/v1/log/entries?limit=1&colour=red&__proto__=1&constructor=x')).status, 200)
})
