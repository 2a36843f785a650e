/** Checks a proof of the log in the browser: fetches the documents, computes, and tells each step in words. */
import { checkConsistency, checkInclusion, checkTreeHead, parseKeySet } from '@claimcheck/core/checker'

interface Step {
  readonly holds: boolean
  readonly words: string
}

function stepOf(holds: boolean, ifSo: string, ifNot: string): Step {
  return { holds, words: holds ? ifSo : ifNot }
}

interface Root {
  readonly size: number
  readonly hash: string
}

class NotFetched extends Error {}

/** Never from the browser's memory: a head from there could be older than the proof. */
async function textOf(path: string): Promise<string> {
  const response = await fetch(path, { cache: 'no-store' }).catch(() => undefined)
  if (!response) throw new NotFetched(`${path} does not answer`)
  if (!response.ok) throw new NotFetched(`${path} answered ${response.status}`)
  return response.text()
}

interface Head {
  readonly body: { readonly log_id: string; readonly tree_size: number; readonly root_hash: string }
}

type SignedHead = Awaited<ReturnType<typeof signedHead>>

async function signedHead() {
  const [keys, answer] = await Promise.all([textOf('/.well-known/poaw-keys.json'), textOf('/v1/log/head')])
  const { tree_head } = JSON.parse(answer) as { tree_head: Head }
  const { valid, checks } = checkTreeHead(JSON.stringify(tree_head), parseKeySet(keys))
  const { log_id, tree_size, root_hash } = tree_head.body
  const why = checks.key ? 'its signature does not fit' : 'no published key signed it'
  const step = stepOf(
    valid,
    `A published key signed the newest head, of size ${tree_size}.`,
    `The newest head, of size ${tree_size}, is not signed as it should be: ${why}.`,
  )
  return { logId: log_id, root: { size: tree_size, hash: root_hash }, step }
}

/** Checks that a root is the one of the signed head, or of a tree that the head's tree begins with. */
async function isOfTheLog({ size, hash }: Root, head: SignedHead): Promise<Step> {
  if (size === head.root.size) {
    const isRoot = hash === head.root.hash
    return stepOf(isRoot, 'Its root is the root of the signed head.', 'Its root is not the root of the signed head.')
  }
  const text = await textOf(`/v1/log/consistency?first=${size}&second=${head.root.size}`)
  const { first, first_root, second, second_root } = JSON.parse(text)
  const isAbout = first === size && first_root === hash && second === head.root.size && second_root === head.root.hash
  return stepOf(
    isAbout && checkConsistency(text).valid,
    `The signed head continues the tree of size ${size}.`,
    `Nothing shows that the signed head continues the tree of size ${size}.`,
  )
}

async function inclusionSteps(leaf: number, hash: string, size: number): Promise<Step[]> {
  const text = await textOf(`/v1/log/proof?leaf_index=${leaf}&tree_size=${size}`)
  const head = await signedHead()
  const { log_id, leaf_index, leaf_hash, tree_size, root_hash } = JSON.parse(text)
  const isAbout = log_id === head.logId && leaf_index === leaf && leaf_hash === hash && tree_size === size
  return [
    stepOf(isAbout, `The proof is about entry ${leaf}, of this log.`, 'The proof is about another entry, size or log.'),
    stepOf(
      checkInclusion(text).valid,
      `The proof leads from the entry to the root of the tree of size ${size}.`,
      `The proof does not lead from the entry to the root of the tree of size ${size}.`,
    ),
    head.step,
    await isOfTheLog({ size, hash: root_hash }, head),
  ]
}

async function consistencySteps(first: number, second: number): Promise<Step[]> {
  const text = await textOf(`/v1/log/consistency?first=${first}&second=${second}`)
  const head = await signedHead()
  const document = JSON.parse(text)
  const isAbout = document.log_id === head.logId && document.first === first && document.second === second
  return [
    stepOf(
      isAbout,
      'The proof is about these two sizes, of this log.',
      'The proof is about other sizes or another log.',
    ),
    stepOf(
      checkConsistency(text).valid,
      `The tree of size ${second} begins with the tree of size ${first}: nothing in it was changed or removed.`,
      `The proof does not connect the trees of size ${first} and ${second}.`,
    ),
    head.step,
    await isOfTheLog({ size: second, hash: document.second_root }, head),
  ]
}

function rowOf({ holds, words }: Step): HTMLLIElement {
  const row = document.createElement('li')
  const mark = document.createElement('strong')
  mark.className = holds ? 'verified' : 'failed'
  mark.textContent = holds ? 'Holds' : 'Does not hold'
  row.append(mark, ` ${words}`)
  return row
}

async function check(root: HTMLElement): Promise<void> {
  const { leaf, hash, size, first, second } = root.dataset
  const status = root.querySelector('[role=status]')!
  root.hidden = false
  try {
    const steps =
      leaf === undefined
        ? await consistencySteps(Number(first), Number(second))
        : await inclusionSteps(Number(leaf), hash!, Number(size))
    root.querySelector('ol')!.replaceChildren(...steps.map(rowOf))
    const isWhole = steps.every(({ holds }) => holds)
    status.textContent = isWhole
      ? 'Everything holds.'
      : 'Not everything holds. Keep the documents below, and ask the operator.'
  } catch (error) {
    const why = error instanceof NotFetched ? error.message : 'a document cannot be read'
    status.textContent = `This could not be checked: ${why}. Load the page again.`
  }
}

const root = document.getElementById('checked')
if (root) check(root)
