// The account: its facts, the contacts of the partner, and how this person signs in.
import { useQuery } from '@tanstack/react-query';
import { sessionQuery, settingsQuery } from '../../api/queries';
import type { Settings } from '../../api/types';
import { IfMay } from '../../parts/allowed';
import { Card } from '../../parts/card';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { countOf, nounOf } from '../../period';
import { Contacts } from './contacts';
import { SettingsForms, SettingsPage } from './page';
import { Passkeys } from './passkeys';
import { Sessions } from './sessions';

export function Screen() {
  const person = useQuery(sessionQuery).data?.person;
  return (
    <SettingsPage to="/settings/profile">
      <IfMay scope="read">
        <Account />
        <SettingsForms>{(settings) => <Contacts settings={settings} />}</SettingsForms>
      </IfMay>
      {person && <Passkeys />}
      <Sessions />
    </SettingsPage>
  );
}

function Account() {
  const query = useQuery(settingsQuery);
  return (
    <Card title="Account">
      <Loaded query={query} what="the account" lines={7}>
        {(settings) => <Plan settings={settings} />}
      </Loaded>
    </Card>
  );
}

const Plan = ({ settings }: { settings: Settings }) => {
  const { plan, partner_id, key_hint, rate_limit_per_sec } = settings;
  return (
    <Facts
      of={[
        ['Name', settings.name],
        [
          'Partner ID',
          <span>
            {partner_id} <Copy text={partner_id} label="Copy the partner ID" />
          </span>,
        ],
        ['State', <State of={settings.status} />],
        ['Partner key', `${key_hint} (support rotates it)`],
        ['Rate limit', `${countOf(rate_limit_per_sec)} requests a second`],
        [
          'Business accounts',
          `${plan.active_wabas}${plan.max_wabas === null ? '' : ` of ${plan.max_wabas}`} active`,
        ],
        ['Billing', `${nounOf(plan.slots, 'slot')} this month`],
      ]}
    />
  );
};
