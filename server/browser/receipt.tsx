/** Checks the receipt of a page in the visitor's browser, and shows the page again as the checked documents say it. */
import { type Bundle, checkBundle, compareHeads, headsPath, parseKeySet } from '@claimcheck/core/checker'
import { firstFailure } from '@claimcheck/core/words/checks'
import { readBundle } from '@claimcheck/core/words/document'
import { render } from 'preact'
import {
  NotValid,
  ReceiptArticle,
  type ReceiptLinks,
  rawDocuments,
  titleOf,
} from '../src/features/site/receipt/receipt-page.tsx'
import { type Step, stepsOf } from '../src/web/receipt-view/steps.ts'
import { viewOf } from '../src/web/receipt-view/view.ts'

const CHECKED = 'Checked in this browser just now, with the code of this page.'

const LOST =
  'The log of this service has lost a state that it signed, which this page has: do not rely on it. Download the bundle of this receipt, which proves that, and ask the operator.'
const COMPARE_EVERY_MS = 30_000

const root = document.getElementById('receipt')!
const links = JSON.parse(root.dataset.links!) as ReceiptLinks

async function check(): Promise<void> {
  const response = await fetch(links.bundle, { cache: 'no-store' })
  if (!response.ok) throw new Error(`the service answered with status ${response.status}`)
  const bundle = readBundle(await response.text())
  if (!bundle) throw new Error('the service sent no receipt')
  await show(bundle)
}

async function show(bundle: Bundle): Promise<void> {
  const report = await checkBundle(bundle, { fromIssuer: true })
  const view = viewOf(bundle, report)
  const raw = rawDocuments(bundle)
  const steps: readonly Step[] = stepsOf(report, view?.proof)
  // The tab showed what the service says.
  document.title = `${view && report.valid ? titleOf(view) : 'Not valid'} · Claimcheck`
  if (!view || !report.valid || view.tone === 'doubtful') {
    document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href = links.plainIcon
  }
  const page =
    view && report.valid ? (
      <ReceiptArticle view={view} steps={steps} checkedBy={CHECKED} links={links} raw={raw} />
    ) : (
      <NotValid problem={firstFailure(report)} steps={steps} checkedBy={CHECKED} raw={raw} />
    )
  render(page, root)
  root.dataset.checked = String(report.valid)
  root.dispatchEvent(new Event('part-replaced', { bubbles: true }))
  setInterval(() => compareLog(bundle).catch(() => {}), COMPARE_EVERY_MS)
}

/** While the page is open it is a witness: the log must keep what it signed. Stores and sends nothing. */
async function compareLog({ keys = '', tree_head: kept }: Bundle): Promise<void> {
  if (kept === undefined || document.hidden) return
  const textOf = async (path: string) => (await fetch(path, { cache: 'no-store' })).text()
  const newest = await textOf('/v1/log/head')
  const path = headsPath(kept, newest)
  const consistency = path === undefined ? undefined : await textOf(path)
  if (compareHeads(kept, newest, parseKeySet(keys), consistency, Date.now()) !== 'lost') return
  if (document.getElementById('log-lost')) return
  const line = document.createElement('p')
  line.id = 'log-lost'
  line.className = 'notice problem'
  line.setAttribute('role', 'alert')
  line.textContent = LOST
  root.before(line)
}

check().catch((error: Error) => {
  const status = root.querySelector('[role=status]')!
  status.textContent = `The check could not run: ${error.message}. Load the page again, or use the command below.`
  root.dataset.checked = 'error'
})
