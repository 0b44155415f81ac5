// Where events go: the webhook address with its secret and its extra events, the endpoints, and
// receivers on trial.
import { Changeable } from '../../parts/allowed';
import { WebhookEndpoints } from './endpoints';
import { ExtraEvents } from './extra-events';
import { SettingsForms, SettingsPage } from './page';
import { WebhookSecret } from './secret';
import { ShadowReceivers } from './shadows';
import { WebhookAddress } from './webhook';

export const Screen = () => (
  <SettingsPage to="/settings/receivers">
    <SettingsForms>
      {(settings) => (
        <>
          <WebhookAddress settings={settings} />
          <WebhookSecret settings={settings} />
          <ExtraEvents settings={settings} />
        </>
      )}
    </SettingsForms>
    <Changeable scope="manage">
      <WebhookEndpoints />
      <ShadowReceivers />
    </Changeable>
  </SettingsPage>
);
