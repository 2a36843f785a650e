/** The offline checker: a person gives it documents, it checks them, and shows every step. It sends no request. */
import * as checker from '@claimcheck/core/checker'
import {
  type Bundle,
  checkBundle,
  checkConsistency,
  checkContradiction,
  checkInclusion,
  checkTreeHead,
  isUnvouched,
  KeySetError,
  type Proof,
  parseKeySet,
} from '@claimcheck/core/checker'
import { CONTRADICTION_WORDS, firstFailure, UNVOUCHED_WORDS } from '@claimcheck/core/words/checks'
import {
  type DocumentKind,
  documentProblem,
  kindOf,
  notADocument,
  readBundle,
  treeHeadText,
} from '@claimcheck/core/words/document'
import { NOT_TEXT, textOfFile } from '@claimcheck/core/words/file-text'
import { visible } from '@claimcheck/core/words/plain-text'
import { type ComponentChildren, render } from 'preact'
import { Proofs } from '../src/features/site/receipt/proofs.tsx'
import { NotValid, ReceiptArticle, rawDocuments } from '../src/features/site/receipt/receipt-page.tsx'
import { anyFails, stepsOf } from '../src/web/receipt-view/steps.ts'
import { viewOf } from '../src/web/receipt-view/view.ts'

const CHECKED = 'Checked in this browser just now, without a network.'

const ORIGIN = { isGiven: true }

const NAMES: Readonly<Record<DocumentKind, string>> = {
  entry: 'receipt',
  bundle: 'bundle',
  evidence: 'evidence',
  keys: 'keys',
  tree_head: 'tree head',
  inclusion: 'inclusion proof',
  consistency: 'consistency proof',
  contradiction: 'how a log contradicts itself',
  profiles: 'rules and words',
}

const MEMBERS: Readonly<Record<Exclude<DocumentKind, 'bundle' | 'inclusion' | 'contradiction'>, keyof Bundle>> = {
  entry: 'receipt',
  evidence: 'evidence',
  keys: 'keys',
  tree_head: 'tree_head',
  consistency: 'consistency',
  profiles: 'profiles',
}

/** The newest of each kind counts; keys that were given by themselves count before those of a bundle. */
let given: Partial<Bundle> & { readonly inclusion?: string; readonly contradiction?: string } = {}
let hasOwnKeys = false
/** The key document that the person says is the issuer's, apart from what came with the receipt. */
let trusted: string | undefined

const form = document.querySelector<HTMLFormElement>('#give')!
const files = document.querySelector<HTMLInputElement>('#files')!
const pasted = document.querySelector<HTMLTextAreaElement>('#pasted')!
const pin = document.querySelector<HTMLInputElement>('#pin')!
const trustedFile = document.querySelector<HTMLInputElement>('#trusted')!
const have = document.querySelector<HTMLElement>('#have')!
const result = document.querySelector<HTMLElement>('#result')!

function take(text: string): DocumentKind {
  const kind = kindOf(text)
  if (kind === 'inclusion' || kind === 'contradiction') given = { ...given, [kind]: text }
  else if (kind !== 'bundle') given = { ...given, [MEMBERS[kind]]: text }
  else {
    const { keys = given.keys } = hasOwnKeys ? given : (readBundle(text) ?? {})
    given = { ...given, ...readBundle(text), ...(keys === undefined ? {} : { keys }) }
  }
  hasOwnKeys ||= kind === 'keys'
  return kind
}

async function takeFiles(list: Iterable<File>): Promise<void> {
  for (const file of list) {
    const text = await textOf(file)
    say(`${visible(file.name)}: ${text === undefined ? NOT_TEXT : NAMES[take(text)]}`)
  }
  await check()
}

async function takeTrusted(file: File | undefined): Promise<void> {
  trusted = file && ((await textOf(file)) ?? '')
  await check()
}

/** Not `file.text()`, which knows UTF-8 alone. */
async function textOf(file: File): Promise<string | undefined> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  try {
    return textOfFile(bytes)
  } catch {
    return undefined
  }
}

function say(text: string): void {
  const line = document.createElement('li')
  line.textContent = text
  have.append(line)
}

async function check(): Promise<void> {
  const page = await pageOf().catch((error: Error) =>
    error instanceof KeySetError ? (
      <Missing>The key document is not one: get the issuer’s /.well-known/poaw-keys.json.</Missing>
    ) : (
      <Missing>The check stopped: {error.message}.</Missing>
    ),
  )
  render(page, result)
}

async function pageOf(): Promise<ComponentChildren> {
  const { receipt, keys } = given
  if (receipt === undefined) return logDocuments()
  const other = notADocument(receipt)
  if (other !== undefined) return <Missing>Could not check: {other}.</Missing>
  const problem = documentProblem(receipt)
  const raw = rawDocuments({ ...given, receipt })
  if (problem !== undefined) return <NotValid problem={problem} steps={[]} checkedBy={undefined} raw={raw} />
  const trustedKeys = trusted === undefined ? undefined : parseKeySet(trusted)
  if (keys === undefined && !trustedKeys) {
    return <Missing>Now the keys: add the issuer’s key document, /.well-known/poaw-keys.json at its address.</Missing>
  }
  const bundle = { ...given, receipt }
  const pinnedKey = pin.value.trim()
  const report = await checkBundle(bundle, {
    ...(trustedKeys ? { keys: trustedKeys } : {}),
    ...(pinnedKey === '' ? {} : { pinnedKey }),
  })
  const view = viewOf(bundle, report, ORIGIN)
  const { proof } = JSON.parse(receipt) as { readonly proof?: Proof }
  const steps = stepsOf(report, proof, ORIGIN)
  return (
    <>
      {isUnvouched(report) && (
        <Missing>
          Nothing here shows who holds the key that signed this: give the issuer’s key document or its key above, from a
          person you trust.
        </Missing>
      )}
      {resultOf()}
      <details>
        <summary>The report, as claimcheck verify --json prints it</summary>
        <pre id="report">{JSON.stringify(report, null, 2)}</pre>
      </details>
    </>
  )

  function resultOf(): ComponentChildren {
    if (!report.valid && !isUnvouched(report))
      return <NotValid problem={firstFailure(report)} steps={steps} checkedBy={CHECKED} raw={raw} />
    if (view) return <ReceiptArticle view={view} steps={steps} checkedBy={CHECKED} links={undefined} raw={raw} />
    return (
      <>
        <p class={anyFails(steps) ? 'notice problem' : 'notice'}>{changeWords(report.valid, anyFails(steps))}</p>
        <Proofs steps={steps.filter(({ name }) => name !== 'evidence')} checkedBy={CHECKED} command={undefined} />
      </>
    )
  }
}

/** Documents of a log alone. */
function logDocuments(): ComponentChildren {
  const { tree_head, inclusion, consistency, contradiction } = given
  const keys = trusted ?? given.keys
  if (contradiction !== undefined) return contradictionLine(contradiction)
  if (inclusion !== undefined)
    return <Line holds={checkInclusion(inclusion).valid}>The tree with this root has this leaf</Line>
  if (consistency !== undefined && tree_head === undefined) {
    return <Line holds={checkConsistency(consistency).valid}>The larger tree begins with the smaller one</Line>
  }
  if (tree_head === undefined) return <Missing>Now the receipt: add its file.</Missing>
  if (keys === undefined) return <Missing>Now the keys: add the issuer’s key document.</Missing>
  const head = treeHeadText(tree_head)
  const { valid } = checkTreeHead(head, parseKeySet(keys))
  const pinned = pin.value.trim()
  if (pinned !== '' && pinned !== JSON.parse(head).signature?.key_id)
    return <Line holds={false}>The key above signed this state of the log</Line>
  if (!valid) return <Line holds={false}>A key of the key document signed this state of the log</Line>
  return trusted !== undefined || pinned !== '' ? (
    <Line holds>A key that you trust signed this state of the log</Line>
  ) : (
    <Missing>A key in these documents signed this state of the log. {UNVOUCHED_WORDS}</Missing>
  )
}

/** Checks how a log contradicts itself by the keys that the person trusts or added, or else by those in the file, for which only the pinned key vouches. */
function contradictionLine(text: string): ComponentChildren {
  const { keys: own = null, tree_head_of_client: client, tree_head_of_log: log } = JSON.parse(text)
  const found = checkContradiction(text, parseKeySet(trusted ?? given.keys ?? JSON.stringify(own)))
  const words = CONTRADICTION_WORDS[found]
  if (found === 'none') return <p class="notice problem">{words}</p>
  const pinned = pin.value.trim()
  if (pinned !== '' && [client, log].some(({ signature }) => signature.key_id !== pinned))
    return <Line holds={false}>The key above signed both states of the log</Line>
  return <Missing>{trusted === undefined && pinned === '' ? `${words} ${UNVOUCHED_WORDS}` : words}</Missing>
}

function changeWords(isValid: boolean, fails: boolean): string {
  if (fails) return 'Do not rely on this change entry: one of its proofs fails.'
  return isValid
    ? 'This is a valid change entry: its issuer saw a change at a destination that it watches.'
    : `It says that its issuer saw a change at a destination that it watches. ${UNVOUCHED_WORDS}`
}

function Missing({ children }: { children: ComponentChildren }) {
  return <p class="notice">{children}</p>
}

function Line({ holds, children }: { holds: boolean; children: ComponentChildren }) {
  return (
    <p class={holds ? 'notice' : 'notice problem'}>
      {children}: <strong>{holds ? 'holds' : 'DOES NOT HOLD'}</strong>.
    </p>
  )
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  // Some editors copy the byte order mark.
  const text = pasted.value.replace(/^\ufeff/, '')
  if (text.trim() !== '') say(`pasted text: ${NAMES[take(text)]}`)
  pasted.value = ''
  void check()
})
form.addEventListener('reset', () => {
  given = {}
  hasOwnKeys = false
  trusted = undefined
  have.replaceChildren()
  render(null, result)
})
pin.addEventListener('input', () => void check())
trustedFile.addEventListener('change', () => void takeTrusted(trustedFile.files?.[0]))
files.addEventListener('change', () => void takeFiles(files.files ?? []))
document.addEventListener('dragover', (event) => event.preventDefault())
document.addEventListener('drop', (event) => {
  event.preventDefault()
  void takeFiles(event.dataTransfer?.files ?? [])
})

/** Lets people check from the browser's console. */
Object.assign(globalThis, { claimcheck: checker })
