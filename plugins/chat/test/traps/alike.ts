/** Claims that are alike on every platform: edits that nobody watched, rights that come and go, caches, and answers of another message. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { errorBody } from './mattermost-api.ts'
import {
  claimOf,
  DAY,
  idAfter,
  instead,
  MINUTE,
  NOT_DONE,
  OTHER_TEXT,
  type Provider,
  type Row,
  roomOf,
  rowsOf,
  type Scene,
  SECOND,
  TEXT,
  TRUE,
  TRUE_UNTOLD,
} from './row.ts'
import { DOWN } from './troubles.ts'

interface Words {
  /** The answer where the credentials may not read the channel. */
  readonly refused: Answer
  /** The answer where the message is not there. */
  readonly missing: Answer
  /** Requests for messages. */
  readonly messages: RegExp
  /** A message's id with more behind it, which leads to another address. */
  readonly injected: string
}

const MISSING = 'Unable to get the post.'
const WORDS: Readonly<Record<Provider, Words>> = {
  slack: {
    refused: { status: 200, body: { ok: false, error: 'not_in_channel' } },
    missing: { status: 200, body: { ok: true, messages: [], has_more: false, pin_count: 0 } },
    messages: /history|replies/,
    injected: `${idAfter('slack', 0)}&channel=C0G9QKBBL`,
  },
  discord: {
    refused: { status: 403, body: { message: 'Missing Access', code: 50_001 } },
    missing: { status: 404, body: { message: 'Unknown Message', code: 10_008 } },
    messages: /messages/,
    injected: `${idAfter('discord', 0)}/../${idAfter('discord', 1)}`,
  },
  mattermost: {
    refused: { status: 403, body: errorBody(403, 'api.context.permissions.app_error', 'No permissions.') },
    missing: { status: 404, body: errorBody(404, 'app.post.get.app_error', MISSING) },
    messages: /posts/,
    injected: `${idAfter('mattermost', 0)}/thread`,
  },
}

/** Fails for every third request. */
function everyThird(): Scene['instead'] {
  let count = 0
  return () => (++count % 3 === 0 ? DOWN : undefined)
}

function rowsAt(provider: Provider): readonly Row[] {
  const row = rowsOf(provider)
  const room = () => roomOf(provider)
  const said = () => room().post(0)
  const { refused, missing, messages, injected } = WORDS[provider]
  const message = idAfter(provider, 0)
  const other = idAfter(provider, 20)
  const params = claimOf(message, { text: TEXT })
  const aged = (seconds: number): Answer => ({ ...missing, headers: { age: String(seconds) } })
  return [
    row(TRUE, 'edited after two minutes into what is claimed', 'it became so within the tolerance', () => ({
      room: room()
        .post(0, { text: OTHER_TEXT })
        .edit(2 * MINUTE, message, TEXT),
      params,
    })),
    row(
      TRUE,
      'edited after two minutes into what is claimed, while nobody could look',
      'it became so within the tolerance',
      () => ({
        room: room()
          .post(0, { text: OTHER_TEXT })
          .edit(2 * MINUTE, message, TEXT),
        params,
        instead: instead(DOWN, { untilMs: 3 * MINUTE }),
      }),
    ),
    row(TRUE_UNTOLD, 'edited after two minutes into another, while nobody could look', 'it was so in time', () => ({
      room: said().edit(2 * MINUTE, message, OTHER_TEXT),
      params,
      instead: instead(DOWN, { untilMs: 3 * MINUTE }),
    })),
    row(
      TRUE_UNTOLD,
      'edited to another and back after the tolerance, submitted then',
      'what it was in time is not shown',
      () => ({
        room: said()
          .edit(5 * MINUTE, message, OTHER_TEXT)
          .edit(30 * MINUTE, message, TEXT),
        params,
        submittedMs: 31 * MINUTE,
      }),
    ),
    row(TRUE, 'edited after half an hour, no text claimed, submitted then', 'the message was there in time', () => ({
      room: said().edit(30 * MINUTE, message, OTHER_TEXT),
      params: claimOf(message),
      submittedMs: 31 * MINUTE,
    })),
    row(TRUE, 'claimed for two minutes ahead', 'it was there before', () => ({
      room: said(),
      params,
      claimedMs: 2 * MINUTE,
      submittedMs: SECOND,
    })),
    row(
      ['never', 'failed', 'unverifiable'],
      'posted the day before, and deleted then',
      'it was gone before the claim',
      () => ({
        room: room()
          .post(-DAY)
          .remove(-DAY + MINUTE, idAfter(provider, -DAY)),
        params: claimOf(idAfter(provider, -DAY), { text: TEXT }),
      }),
    ),
    row(TRUE_UNTOLD, 'deleted before the credentials may read the channel', 'a refusal is no look', () => ({
      room: said().remove(MINUTE, message),
      params,
      instead: instead(refused, { untilMs: 2 * MINUTE }),
    })),
    row(
      NOT_DONE,
      'never posted, in a channel that cannot be read after three minutes',
      'it may have come since',
      () => ({
        room: room(),
        params,
        instead: instead(refused, { fromMs: 3 * MINUTE }),
      }),
    ),
    row(TRUE_UNTOLD, 'posted after the credentials may no longer read the channel', 'nobody looks any more', () => ({
      room: room().post(2 * MINUTE, { id: message }),
      params,
      instead: instead(refused, { fromMs: MINUTE }),
    })),
    row(TRUE, 'a platform that fails for every third request', 'it answers the others', () => ({
      room: said(),
      params,
      instead: everyThird(),
    })),
    row(NOT_DONE, 'never posted, at a platform that fails for every third request', 'looks may leave gaps', () => ({
      room: room(),
      params,
      instead: everyThird(),
    })),
    row(TRUE, 'a copy of five minutes ago, for three minutes', 'a copy is older than the message', () => ({
      room: said(),
      params,
      instead: instead(aged(300), { untilMs: 3 * MINUTE, on: messages }),
    })),
    row(TRUE_UNTOLD, 'a copy of five minutes ago, for the whole life', 'a copy is older than the message', () => ({
      room: said(),
      params,
      instead: instead(aged(1500), { on: messages }),
    })),
    row(TRUE_UNTOLD, 'answers of another message', 'who mixes up messages does not tell which are there', () => ({
      room: said().post(20),
      params,
      rewrite: (url) => url.replaceAll(message, other),
    })),
    row(NOT_DONE, 'never posted, and answers of another message', 'another message is not the claimed one', () => ({
      room: room().post(20),
      params,
      rewrite: (url) => url.replaceAll(message, other),
    })),
    row(['never', 'refused', 'unverifiable'], 'an id that leads elsewhere', 'it is no id', () => ({
      room: said().post(1),
      params: claimOf(injected),
    })),
  ]
}

export const ALIKE: readonly Row[] = [...rowsAt('slack'), ...rowsAt('discord'), ...rowsAt('mattermost')]
