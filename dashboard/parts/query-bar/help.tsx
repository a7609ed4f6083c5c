/** The query language on one page. */
import { Dialog } from '../dialog/dialog.tsx';

const CONDITIONS: readonly (readonly [text: string, meaning: string])[] = [
  ['status:500', 'is'],
  ['status:>=500', 'at least; also > < <='],
  ['latency:1s..2m', 'from one up to, but not including, the other'],
  ['created:2026-11-01..', 'from that day on'],
  ['model:gpt-4o*', 'begins with; * is any text'],
  ['path:~chat', 'contains, ignoring case'],
  ['user:"Anna Smith"', 'a text with spaces, parentheses or *'],
  ['property.Plan:(pro OR team)', 'one of several'],
  ['scores.helpful:<3', 'a score'],
  ['response.choices.0.finish_reason:length', 'a place in a body'],
  ['has:feedback', 'has a value'],
  ['"refund policy"', 'text anywhere in the bodies: slow, choose a short range'],
];
const JOINS: readonly (readonly [text: string, meaning: string])[] = [
  ['status:500 user:anna', 'both'],
  ['status:500 OR user:anna', 'at least one; a b OR c is (a b) OR c'],
  ['-user:bot', 'all but these; also NOT'],
  ['-(status:200 user:bot)', 'all but those that both hold for'],
];
const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ['/', 'to the query'],
  ['↓ ↑ Enter', 'take what the list offers'],
  ['Enter', 'ask'],
  ['Shift Enter', 'a new line'],
  ['↑', 'earlier queries, while nothing is changed'],
  ['Escape', 'close the list, then leave'],
];

function Rows({
  title,
  rows,
}: {
  title: string;
  rows: readonly (readonly [text: string, meaning: string])[];
}) {
  return (
    <table class="query-help">
      <caption>{title}</caption>
      <tbody>
        {rows.map(([text, meaning]) => (
          <tr key={text}>
            <th scope="row">
              <code>{text}</code>
            </th>
            <td>{meaning}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A dialog. */
export function QueryHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Queries" onClose={onClose} isWide>
      <Rows title="Conditions" rows={CONDITIONS} />
      <Rows title="Together" rows={JOINS} />
      <Rows title="Keys" rows={KEYS} />
    </Dialog>
  );
}
