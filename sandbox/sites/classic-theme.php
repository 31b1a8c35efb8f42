<?php
// Plugin Name: Site: a classic theme
// Description: Some event plugins behave differently with it. The other file of the site reads this constant.

const SITE_CLASSIC_THEME = true;
