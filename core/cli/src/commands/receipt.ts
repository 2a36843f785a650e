/** `claimcheck receipt get`, `verify` and `open`: receipts that a service publishes. No key is needed, and none is sent. */

import { badArguments } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { writeOut } from '@claimcheck/command-line/terminal'
import { typed } from '@claimcheck/command-line/typed'
import { visible } from '@claimcheck/core/words/plain-text'
import { terminalJson } from '@claimcheck/core/words/terminal'
import type { Command } from 'commander'
import { type AccessOptions, accessOf, withAccessOptions } from '../service/access.ts'
import { openBrowser } from '../service/browser.ts'
import { receiptPage } from '../service/claim-words.ts'
import { asking, clientOf } from '../service/client.ts'
import { type VerifyOptions, verifyAt, withVerifyOptions } from './verify.ts'

export function addServiceReceiptCommands(receipt: Command): void {
  withAccessOptions(
    subcommand(receipt, 'get', 'print a receipt, byte for byte').argument('<id>', 'id of the receipt, rcpt_...'),
  ).action(async (id: string, options: OutputOptions & AccessOptions) => {
    const { url } = accessOf(options, process.env)
    const text = await asking(clientOf({ url, key: undefined }).receipt(checkedId(id)))
    // A signature is over these very bytes. A terminal would act on some of them, so it gets the same JSON in others.
    if (process.stdout.isTTY) writeOut(`${terminalJson(text)}\n`)
    else process.stdout.write(text)
  })

  withAccessOptions(
    withVerifyOptions(
      subcommand(receipt, 'verify', `fetch a receipt and check it like ${typed('verify')}`).argument(
        '<id>',
        'id of the receipt, rcpt_...',
      ),
    ),
  ).action(async (id: string, options: VerifyOptions & AccessOptions) => {
    const { url } = accessOf(options, process.env)
    await verifyAt(`${url}/v1/receipts/${checkedId(id)}`, options)
  })

  withAccessOptions(
    subcommand(receipt, 'open', 'print the address of the page of a receipt, and open it where there is a display')
      .argument('<id>', 'id of the receipt, rcpt_...')
      .option('--no-browser', 'print the address without opening a browser'),
  ).action(async (id: string, options: OutputOptions & AccessOptions & { readonly browser: boolean }) => {
    const page = receiptPage(accessOf(options, process.env).url, checkedId(id))
    const opened = options.browser && (await openBrowser(page))
    print(options, { page, opened }, [page])
  })
}

function checkedId(id: string): string {
  if (/^rcpt_[0-9A-Za-z]{1,100}$/.test(id)) return id
  throw badArguments(`${visible(JSON.stringify(id))} is no id of a receipt: those begin with rcpt_.`)
}
