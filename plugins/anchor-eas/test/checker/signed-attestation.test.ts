// Test run: end-to-end
/** Reading signed attestations, compared with what another library signs. */
import { readSignedAttestation } from '@claimcheck/plugin-anchor-eas/checker'
import { Interface, keccak256, Wallet, ZeroAddress } from 'ethers'
import t from 'tap'

const WALLET = new Wallet(`0x${'42'.repeat(32)}`)
const EAS = new Interface([
  'function attest((bytes32 schema, (address recipient, uint64 expirationTime, bool revocable, bytes32 refUID, bytes data, uint256 value) data) request) payable returns (bytes32)',
])
const SCHEMA = `0x${'5c'.repeat(32)}`
const REF_UID = `0x${'0f'.repeat(32)}`
const DATA = `0x${'d0'.repeat(230)}`

const ATTESTATION = {
  recipient: ZeroAddress,
  expirationTime: 0,
  revocable: false,
  refUID: REF_UID,
  data: DATA,
  value: 0,
}
const CALL = EAS.encodeFunctionData('attest', [{ schema: SCHEMA, data: ATTESTATION }])

async function sign(over: object = {}): Promise<{ raw: string; txHash: string }> {
  const raw = await WALLET.signTransaction({
    type: 2,
    chainId: 84532,
    nonce: 300,
    to: ZeroAddress,
    gasLimit: 300_000,
    maxFeePerGas: 5_000_000_000n,
    maxPriorityFeePerGas: 0n,
    data: CALL,
    ...over,
  })
  return { raw, txHash: keccak256(raw) }
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

t.test('a signed attestation is read with its content and its signer', async (t) => {
  for (const nonce of [0, 1, 127, 128, 300]) {
    const { raw, txHash } = await sign({ nonce })
    const { attestation, ...transaction } = readSignedAttestation(raw)!
    t.strictSame(transaction, {
      txHash,
      chainId: 84532n,
      nonce: BigInt(nonce),
      maxFee: 5_000_000_000n,
      priorityFee: 0n,
    })
    t.equal(hex(attestation.attester), WALLET.address.toLowerCase())
    t.equal(hex(attestation.schema), SCHEMA)
    t.equal(hex(attestation.refUid), REF_UID)
    t.equal(hex(attestation.data), DATA)
    t.match(attestation, { revocable: false, expirationTime: 0n, revocationTime: 0n })
  }
})

t.test('other bytes are not a signed attestation', async (t) => {
  const { raw } = await sign()
  const legacy = await WALLET.signTransaction({ type: 0, to: ZeroAddress, gasLimit: 1, gasPrice: 1, nonce: 0 })
  const rows = {
    'a missing byte': raw.slice(0, -2),
    'an additional byte': `${raw}00`,
    'another type of transaction': legacy,
    'an empty text': '',
    'not hex': 'attest',
    'only the type': '0x02',
  }
  for (const [name, text] of Object.entries(rows)) t.equal(readSignedAttestation(text), undefined, name)
  for (const data of ['0x12345678', `0x12345678${CALL.slice(10)}`]) {
    t.equal(readSignedAttestation((await sign({ data })).raw), undefined, 'another call')
  }
})

t.test('with any byte changed, it is another transaction or none', async (t) => {
  const { raw, txHash } = await sign()
  const bytes = Buffer.from(raw.slice(2), 'hex')
  const undetected: number[] = []
  for (let place = 0; place < bytes.length; place++) {
    for (const bit of [1, 128]) {
      const changed = Buffer.from(bytes)
      changed[place]! ^= bit
      if (readSignedAttestation(hex(changed))?.txHash === txHash) undetected.push(place)
    }
  }
  t.strictSame(undetected, [])
})
