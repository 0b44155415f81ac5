// What the partner's clients see when they sign up, and the pages that may open it.
import { ConnectOrigins } from './connect-origins';
import { Logo } from './logo';
import { SettingsForms, SettingsPage } from './page';

export const Screen = () => (
  <SettingsPage to="/settings/sign-up">
    <SettingsForms>
      {(settings) => (
        <>
          <Logo settings={settings} />
          <ConnectOrigins settings={settings} />
        </>
      )}
    </SettingsForms>
  </SettingsPage>
);
